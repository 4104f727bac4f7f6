"""The walk-through of one sentence through one model, as a page that can be sent to somebody."""

from typing import Any, Literal

from clearformer.studio.app import STATIC, Handlers
from clearformer.studio.cell import all_cells
from clearformer.studio.onefile import one_page
from clearformer.studio.packing import pack
from clearformer.studio.requests import Input
from clearformer.studio.shown_model import check_length

MAX_TOKENS = 96  # every value of every layer goes into the file


def explain(handlers: Handlers, text: str, *, language: Literal["en", "zh"] = "en") -> str:
    """One HTML file: the pages' own code, and the answers that it would have asked the server for."""
    given = Input(text=text)
    look = handlers.look(given)
    check_length(max(len(look.source), len(look.target)), MAX_TOKENS)
    values = handlers.traces.values(look, ["encoder.*", "decoder.*"])
    answers: dict[str, Any] = {"/api/model": handlers.model(), "/api/trace": handlers.trace(given)}
    data = {
        "language": language,
        "text": text,
        "answers": answers,
        "values": {name: pack(value) for name, value in values.items() if value.dim() <= 3},
        "cells": {
            layer.name: all_cells(handlers.traces, look, layer) for layer in handlers.layers.values() if layer.exact
        },
    }
    return one_page(STATIC, "offline", data, title=f"{text[:60]} · Clearformer")
