#!/usr/bin/env python3
"""Checks a HAR file for the members that HTTP Archive 1.2 requires, and their types: check_har.py FILE COUNT"""
import base64
import datetime
import json
import sys

TEXT, NUMBER, LIST, DICT = str, (int, float), list, dict
MESSAGE = {"httpVersion": TEXT, "cookies": LIST, "headers": LIST, "headersSize": int, "bodySize": int}
ENTRY = {"startedDateTime": TEXT, "time": NUMBER, "request": DICT, "response": DICT, "cache": DICT, "timings": DICT}
REQUEST = MESSAGE | {"method": TEXT, "url": TEXT, "queryString": LIST}
RESPONSE = MESSAGE | {"status": int, "statusText": TEXT, "content": DICT, "redirectURL": TEXT}


def check(value, members, place):
    for name, kind in members.items():
        assert name in value, f"{place} lacks {name}"
        assert isinstance(value[name], kind) and not isinstance(value[name], bool), f"{place}.{name} is {value[name]!r}"


def check_pairs(pairs, place):
    for pair in pairs:
        check(pair, {"name": TEXT, "value": TEXT}, place)


def check_entry(entry, place):
    check(entry, ENTRY, place)
    datetime.datetime.fromisoformat(entry["startedDateTime"].replace("Z", "+00:00"))
    for message, members in (("request", REQUEST), ("response", RESPONSE)):
        check(entry[message], members, f"{place}.{message}")
        check_pairs(entry[message]["headers"], f"{place}.{message}.headers")
        check_pairs(entry[message]["cookies"], f"{place}.{message}.cookies")
    check_pairs(entry["request"]["queryString"], f"{place}.queryString")
    if "postData" in entry["request"]:
        check(entry["request"]["postData"], {"mimeType": TEXT}, f"{place}.postData")
    content = entry["response"]["content"]
    check(content, {"size": int, "mimeType": TEXT}, f"{place}.content")
    if content.get("encoding") == "base64":
        assert len(base64.b64decode(content["text"], validate=True)) == content["size"], f"{place}: the content has another size"
    elif "text" in content:
        assert len(content["text"].encode("utf-8", "surrogatepass")) == content["size"], f"{place}: the text has another size"
    timings = entry["timings"]
    check(timings, {"send": NUMBER, "wait": NUMBER, "receive": NUMBER}, f"{place}.timings")
    total = sum(timings[name] for name in ("blocked", "dns", "connect", "send", "wait", "receive") if timings.get(name, -1) >= 0)
    assert abs(total - entry["time"]) <= 1 + entry["time"] * 0.02, f"{place}: timings make {total}, time is {entry['time']}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        log = json.load(file)["log"]
    check(log, {"version": TEXT, "creator": DICT, "entries": LIST}, "log")
    check(log["creator"], {"name": TEXT, "version": TEXT}, "creator")
    assert log["version"] == "1.2", log["version"]
    assert len(log["entries"]) == int(sys.argv[2]), f"{len(log['entries'])} entries"
    for index, entry in enumerate(log["entries"]):
        check_entry(entry, f"entries[{index}]")


main()
