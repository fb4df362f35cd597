#!/usr/bin/env python3
"""Fills the page of `poolproof simulate` with data, made up (render.py hour -o page.html) or read from a JSON file."""

import argparse
import json
import os

import fixtures

TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli", "page", "simulate.html")
PLACEHOLDER = '"POOLPROOF_DATA"'


def template(path=TEMPLATE):
    with open(path, encoding="utf-8") as file:
        return file.read()


def as_json(data):
    """No `<` stays: with `</` alone escaped, `<!--<script` would still swallow the end of the element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def fill(text, data_text):
    if text.count(PLACEHOLDER) != 1:
        raise ValueError(f"the template must hold {PLACEHOLDER} once, not {text.count(PLACEHOLDER)} times")
    return text.replace(PLACEHOLDER, data_text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="a JSON file, or one of: " + ", ".join(fixtures.ALL))
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--template", default=TEMPLATE)
    options = parser.parse_args()
    if options.data in fixtures.ALL:
        data = fixtures.ALL[options.data]()
    else:
        with open(options.data, encoding="utf-8") as file:
            data = json.load(file)
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(fill(template(options.template), as_json(data)))


if __name__ == "__main__":
    main()
