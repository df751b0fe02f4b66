"""An origin with as much of the APIs of models as their official clients need: streams, tool calls, uploads, refusals and cut streams.

The name of the model chooses what happens: with "busy" in it every other request is refused with 429 or 529, and with "cut" the connection of a
stream ends in its middle.
"""
import base64
import binascii
import json
import struct
import threading

from harness import Handler

TEXT = "It is sunny, 21 degrees."
ARGUMENTS = '{"city": "Tokyo", "unit": "C"}'


def frame(headers, payload):
    """One message of the AWS event stream encoding."""
    head = b"".join(bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode() for name, value in headers.items())
    start = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    start += struct.pack(">I", binascii.crc32(start))
    message = start + head + payload
    return message + struct.pack(">I", binascii.crc32(message))


def event(name, value):
    return frame({":event-type": name, ":content-type": "application/json", ":message-type": "event"}, json.dumps(value).encode())


def sse(values, named=False, done=False):
    pieces = [(f"event: {value['type']}\n" if named else "") + f"data: {json.dumps(value)}\n\n" for value in values]
    return [piece.encode() for piece in pieces] + ([b"data: [DONE]\n\n"] if done else [])


def words():
    return [word + " " for word in TEXT.split()]


class Models(Handler):
    """Every API under the paths that its client uses."""

    busy, lock = {}, threading.Lock()
    # A refusal leaves as a whole: clients that ask again do not wait for the rest of it.
    wbufsize = -1

    def do_POST(self):
        content = self.body()
        # Gemini's client declares JSON for a file that it uploads.
        asked = json.loads(content) if content.startswith(b"{") else {}
        path = self.path.split("?")[0]
        # Streams of one connection may be cut, and are told apart by their model.
        self.model = asked.get("model") or path
        if "busy" in self.model and self.refused():
            return
        for start, method in self.ROUTES:
            if start in path:
                return method(self, path, asked, content)
        self.answer(404, "no such API")

    def do_GET(self):
        # The Hub's client asks which provider serves a model.
        self.answer(404, "no such API")

    def refused(self):
        """Whether this request was refused; the next one of the same model is not."""
        with self.lock:
            self.busy[self.model] = not self.busy.get(self.model, False)
            refuse = self.busy[self.model]
        if refuse:
            status = 529 if "claude" in self.model else 429
            text = json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "busy", "code": status, "status": "RESOURCE_EXHAUSTED"}})
            self.answer(status, text, "application/json", Retry_After="0", Retry_After_Ms="1", X_Amzn_Errortype="ThrottlingException")
        return refuse

    def json(self, value, **fields):
        self.answer(200, json.dumps(value), "application/json", **fields)

    def stream(self, kind, pieces):
        """Sends each piece as a chunk. With a model that is cut, the connection ends after half of them."""
        cut = "cut" in self.model
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in pieces[:len(pieces) // 2] if cut else pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        if cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    # OpenAI, and those that speak its protocol

    def chat(self, path, asked, _):
        # The first turn of an agent gets calls of tools, and the turn after their results gets text.
        calls = bool(asked.get("tools")) and asked["messages"][-1]["role"] != "tool" and "tools" in self.model
        head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": asked["model"]}
        call_id = "D681PevKs" if "mistral" in self.model else "call_srv1"
        call = {"id": call_id, "type": "function", "index": 0, "function": {"name": "weather", "arguments": ARGUMENTS}}
        usage = {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}
        if not asked.get("stream"):
            message = {"role": "assistant", "content": None, "tool_calls": [call]} if calls else {"role": "assistant", "content": TEXT}
            return self.json(head | {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}], "usage": usage})
        head["object"] = "chat.completion.chunk"

        def chunk(delta, reason=None):
            return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        if calls:
            chunks = [chunk({"role": "assistant", "content": None, "tool_calls": [call | {"function": {"name": "weather", "arguments": ""}}]})]
            chunks += [chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in (ARGUMENTS[:12], ARGUMENTS[12:])]
            if "mistral" in self.model:
                chunks = [chunk({"role": "assistant", "content": "", "tool_calls": [call]})]
        else:
            chunks = [chunk({"role": "assistant", "content": word}) for word in words()]
        chunks.append(chunk({}, "tool_calls" if calls else "stop") | {"usage": usage})
        self.stream("text/event-stream", sse(chunks, done=True))

    def respond(self, path, asked, _):
        item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": TEXT, "annotations": []}]}
        if asked.get("tools") and not any(part.get("type") == "function_call_output" for part in asked["input"] if isinstance(part, dict)):
            item = {"id": "fc_1", "type": "function_call", "call_id": "call_srv1", "name": "weather", "arguments": ARGUMENTS, "status": "completed"}
        answer = {"id": "resp_1", "object": "response", "created_at": 1, "model": asked["model"], "status": "completed", "output": [item], "parallel_tool_calls": True,
                  "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None, "instructions": None, "metadata": {}, "temperature": 1, "top_p": 1,
                  "usage": {"input_tokens": 9, "output_tokens": 7, "total_tokens": 16, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                            "output_tokens_details": {"reasoning_tokens": 0}}}
        if not asked.get("stream"):
            return self.json(answer)
        events = [{"type": "response.created", "response": answer | {"status": "in_progress", "output": []}}]
        if item["type"] == "message":
            events.append({"type": "response.output_item.added", "output_index": 0, "item": item | {"content": []}})
            events.append({"type": "response.content_part.added", "item_id": "msg_1", "output_index": 0, "content_index": 0, "part": {"type": "output_text", "text": "", "annotations": []}})
            events += [{"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": word, "logprobs": []} for word in words()]
        else:
            events.append({"type": "response.output_item.added", "output_index": 0, "item": item | {"arguments": ""}})
            events.append({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0, "delta": ARGUMENTS})
        events += [{"type": "response.output_item.done", "output_index": 0, "item": item}, {"type": "response.completed", "response": answer}]
        self.stream("text/event-stream", sse([value | {"sequence_number": number} for number, value in enumerate(events)], named=True))

    def embeddings(self, path, asked, _):
        vector = base64.b64encode(struct.pack("<3f", 0.5, 0.25, -1)).decode() if asked.get("encoding_format") == "base64" else [0.5, 0.25, -1]
        self.json({"object": "list", "model": asked["model"], "data": [{"object": "embedding", "index": 0, "embedding": vector}], "usage": {"prompt_tokens": 1, "total_tokens": 1}})

    def upload(self, path, asked, content):
        self.json({"id": "file-1", "object": "file", "type": "file", "bytes": 10, "size_bytes": 10, "created_at": 1, "filename": "notes.txt", "purpose": "assistants", "mime_type": "text/plain",
                   "sample_type": "instruct", "source": "upload", "num_lines": 1, "status": "processed", "downloadable": False})

    def transcribe(self, path, asked, content):
        self.json({"text": TEXT})

    # Anthropic

    def messages(self, path, asked, _):
        answered = any(part["type"] == "tool_result" and part["tool_use_id"] == "toolu_srv1" for part in asked["messages"][-1]["content"] if isinstance(part, dict))
        calls = bool(asked.get("tools")) and not answered and "tools" in self.model
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": asked["model"], "stop_sequence": None}
        usage = {"input_tokens": 9, "output_tokens": 7}
        use = {"type": "tool_use", "id": "toolu_srv1", "name": "weather", "input": json.loads(ARGUMENTS)}
        reason = "tool_use" if calls else "end_turn"
        if not asked.get("stream"):
            return self.json(head | {"content": [use if calls else {"type": "text", "text": TEXT}], "stop_reason": reason, "usage": usage})
        events = [{"type": "message_start", "message": head | {"content": [], "stop_reason": None, "usage": usage}}, {"type": "ping"}]
        events.append({"type": "content_block_start", "index": 0, "content_block": use | {"input": {}} if calls else {"type": "text", "text": ""}})
        if calls:
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", ARGUMENTS[:9], ARGUMENTS[9:])]
        else:
            deltas = [{"type": "text_delta", "text": word} for word in words()]
        events += [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
        events += [{"type": "content_block_stop", "index": 0}, {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}, {"type": "message_stop"}]
        self.stream("text/event-stream", sse(events, named=True))

    # Gemini

    def generate(self, path, asked, _):
        last = asked["contents"][-1]["parts"]
        calls = bool(asked.get("tools")) and not any("functionResponse" in part for part in last) and "tools" in path
        usage = {"promptTokenCount": 9, "candidatesTokenCount": 7, "totalTokenCount": 16}

        def answer(parts, **more):
            return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0} | more], "usageMetadata": usage}
        call = [{"functionCall": {"id": "srv1", "name": "weather", "args": json.loads(ARGUMENTS)}}]
        if ":generateContent" in path:
            return self.json(answer(call if calls else [{"text": TEXT}], finishReason="STOP"))
        chunks = [answer(call)] if calls else [answer([{"text": word}]) for word in words()]
        chunks[-1]["candidates"][0]["finishReason"] = "STOP"
        self.stream("text/event-stream", sse(chunks))

    def gemini_upload(self, path, asked, content):
        address = f"http://{self.headers['Host']}/upload/v1/files?upload_id=1"
        if "start" in self.headers.get("X-Goog-Upload-Command", ""):
            return self.json({}, x_goog_upload_url=address, x_goog_upload_status="active")
        self.json({"file": {"name": "files/notes", "mimeType": "text/plain", "sizeBytes": str(len(content)), "uri": "files/notes", "state": "ACTIVE"}}, x_goog_upload_status="final")

    # Bedrock

    def converse(self, path, asked, _):
        last = asked["messages"][-1]["content"]
        calls = bool(asked.get("toolConfig")) and not any(part.get("toolResult", {}).get("toolUseId") == "tooluse_srv1" for part in last) and "tools" in path
        use = {"toolUseId": "tooluse_srv1", "name": "weather"}
        reason, usage = "tool_use" if calls else "end_turn", {"inputTokens": 9, "outputTokens": 7, "totalTokens": 16}
        if path.endswith("/converse"):
            content = [{"toolUse": use | {"input": json.loads(ARGUMENTS)}}] if calls else [{"text": TEXT}]
            return self.json({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 5}})
        deltas = [{"toolUse": {"input": piece}} for piece in (ARGUMENTS[:9], ARGUMENTS[9:])] if calls else [{"text": word} for word in words()]
        events = [event("messageStart", {"role": "assistant"})]
        if calls:
            events.append(event("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": use}}))
        events += [event("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta}) for delta in deltas]
        events += [event("contentBlockStop", {"contentBlockIndex": 0}), event("messageStop", {"stopReason": reason}), event("metadata", {"usage": usage, "metrics": {"latencyMs": 5}})]
        self.stream("application/vnd.amazon.eventstream", events)

    def invoke(self, path, asked, _):
        if path.endswith("/invoke"):
            return self.json({"completion": TEXT})
        chunks = [json.dumps({"completion": word}).encode() for word in words()]
        self.stream("application/vnd.amazon.eventstream", [event("chunk", {"bytes": base64.b64encode(chunk).decode()}) for chunk in chunks])

    # Ollama

    def ollama(self, path, asked, _):
        calls = bool(asked.get("tools")) and asked["messages"][-1]["role"] != "tool" and "tools" in self.model
        head = {"model": asked["model"], "created_at": "2026-11-29T00:00:00Z"}
        lines = [head | {"message": {"role": "assistant", "content": word}, "done": False} for word in words()]
        if calls:
            lines = [head | {"message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "weather", "arguments": json.loads(ARGUMENTS)}}]}, "done": False}]
        if not asked.get("stream"):
            message = lines[0]["message"] if calls else {"role": "assistant", "content": TEXT}
            return self.json(head | {"message": message, "done": True, "done_reason": "stop"})
        lines.append(head | {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"})
        self.stream("application/x-ndjson", [json.dumps(line).encode() + b"\n" for line in lines])

    # Cohere

    def cohere(self, path, asked, _):
        calls = bool(asked.get("tools")) and asked["messages"][-1]["role"] != "tool" and "tools" in self.model
        call = {"id": "weather_srv1", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS}}
        reason = "TOOL_CALL" if calls else "COMPLETE"
        if not asked.get("stream"):
            message = {"role": "assistant", "tool_calls": [call]} if calls else {"role": "assistant", "content": [{"type": "text", "text": TEXT}]}
            return self.json({"id": "c1", "finish_reason": reason, "message": message, "usage": {"tokens": {"input_tokens": 9, "output_tokens": 7}}})
        events = [{"type": "message-start", "id": "c1", "delta": {"message": {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}}}]
        if calls:
            events.append({"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call | {"function": {"name": "weather", "arguments": ""}}}}})
            events.append({"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": ARGUMENTS}}}}})
            events.append({"type": "tool-call-end", "index": 0})
        else:
            events.append({"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}})
            events += [{"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": word}}}} for word in words()]
            events.append({"type": "content-end", "index": 0})
        events.append({"type": "message-end", "delta": {"finish_reason": reason, "usage": {"tokens": {"input_tokens": 9, "output_tokens": 7}}}})
        self.stream("text/event-stream", sse(events, named=True))

    ROUTES = [
        ("/v1/chat/completions", chat), ("/v1/responses", respond), ("/v1/embeddings", embeddings), ("/upload/v1", gemini_upload),
        ("/audio/transcriptions", transcribe), ("/speech", transcribe), ("/v1/files", upload), ("/v1/messages", messages), ("enerateContent", generate), ("/converse", converse), ("/invoke", invoke),
        ("/api/chat", ollama), ("/v2/chat", cohere),
    ]
