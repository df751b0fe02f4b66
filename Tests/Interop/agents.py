"""Official clients of LLMs and MCP: ids, dates and the order of tools change between recording and replay, and a preset alone matches."""
import json

from harness import Handler, free_port

NEEDS = "python:python3"
PYPI = ["anthropic==2.14.0", "boto3==1.44.8", "google-genai==3.6.1", "mcp==2.3.0", "ollama==0.6.3", "openai==3.57.0"]
BOUND = 600

# What a run of the agent has of its own. `prompt` changes what is asked.
PRELUDE = """
import json, os, sys
URL, RUN = sys.argv[1], sys.argv[2]
OTHER = RUN != "first"
CITY = "Seoul" if RUN == "prompt" else "Tokyo"
DAY = "2027-02-03" if OTHER else "2026-11-29"
ID = "b7Zx90" if OTHER else "a1Qw23"
SYSTEM = f"You are an agent. {'Be brief. ' * 30}Today is {DAY}. Answer in one sentence."
ASK = f"What is the weather in {CITY}?"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"type": "string"}}, "required": ["unit", "city"] if OTHER else ["city", "unit"]}
NAMES = ["weather", "search", "clock"]
if OTHER:
    NAMES.reverse()
def show(*values):
    print(*values)
def tried(call):
    try:
        call()
    except Exception as error:
        show("refused", type(error).__name__ if "424" in str(error) else repr(error))
"""

CLIENTS = {
    "openai": """
import openai
client = openai.OpenAI(base_url=URL + "/v1", api_key="sk-test-0123456789abcdef0123456789", max_retries=0)
tools = [{"type": "function", "function": {"name": name, "description": f"the {name}", "parameters": SCHEMA}} for name in NAMES]
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "hello"},
    {"role": "assistant", "tool_calls": [{"id": f"call_{ID}", "type": "function", "function": {"name": "clock", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": f"call_{ID}", "content": "noon"}, {"role": "user", "content": ASK}]
def run():
    show(client.chat.completions.create(model="gpt-test", messages=messages, tools=tools, user=f"user-{ID}").choices[0].message.content)
    stream = client.chat.completions.create(model="gpt-test", messages=messages, tools=tools, user=f"user-{ID}", stream=True)
    show("".join(chunk.choices[0].delta.content or "" for chunk in stream))
tried(run)
""",
    "anthropic": """
import anthropic
client = anthropic.Anthropic(base_url=URL, api_key="sk-ant-test-0123456789abcdef0123456789", max_retries=0)
tools = [{"name": name, "description": f"the {name}", "input_schema": SCHEMA} for name in NAMES]
messages = [{"role": "user", "content": "hello"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": f"toolu_{ID}", "name": "clock", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{ID}", "content": "noon"}, {"type": "text", "text": ASK}]}]
def run():
    answer = client.messages.create(model="claude-test", max_tokens=99, system=SYSTEM, messages=messages, tools=tools, metadata={"user_id": f"user-{ID}"})
    show(answer.content[0].text)
tried(run)
""",
    "gemini": """
from google import genai
from google.genai import types
client = genai.Client(api_key="AIzaSyTest0123456789abcdefghijklmnopqrs", http_options=types.HttpOptions(base_url=URL))
tools = [types.Tool(function_declarations=[types.FunctionDeclaration(name=name, description=f"the {name}", parameters_json_schema=SCHEMA) for name in NAMES])]
def run():
    settings = types.GenerateContentConfig(system_instruction=SYSTEM, tools=tools, automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True))
    show(client.models.generate_content(model="gemini-test", contents=ASK, config=settings).text)
tried(run)
""",
    "bedrock": """
import boto3
from botocore.config import Config
client = boto3.client("bedrock-runtime", endpoint_url=URL, region_name="us-east-1", config=Config(retries={"max_attempts": 1}))
tools = [{"toolSpec": {"name": name, "description": f"the {name}", "inputSchema": {"json": SCHEMA}}} for name in NAMES]
messages = [{"role": "user", "content": [{"text": "hello"}]}, {"role": "assistant", "content": [{"toolUse": {"toolUseId": f"tooluse_{ID}", "name": "clock", "input": {}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": f"tooluse_{ID}", "content": [{"text": "noon"}]}}, {"text": ASK}]}]
def run():
    answer = client.converse(modelId="model-test", system=[{"text": SYSTEM}], messages=messages, toolConfig={"tools": tools})
    show(answer["output"]["message"]["content"][0]["text"])
tried(run)
""",
    # Ollama's API has no ids, and no preset of its own: OpenAI's rules name the same places.
    "ollama": """
import ollama
client = ollama.Client(host=URL)
tools = [{"type": "function", "function": {"name": name, "description": f"the {name}", "parameters": SCHEMA}} for name in NAMES]
def run():
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": ASK}]
    show("".join(part.message.content for part in client.chat(model="llama-test", messages=messages, tools=tools, stream=True)))
tried(run)
""",
}

PRESETS = {"openai": "openai", "anthropic": "anthropic", "gemini": "gemini", "bedrock": "bedrock", "ollama": "openai"}
# Where the changed prompt is.
PLACES = {
    "openai": "/messages/4/content", "anthropic": "/messages/2/content/1/text", "gemini": "/contents/0/parts/0/text",
    "bedrock": "/messages/2/content/1/text", "ollama": "/messages/1/content",
}

TEXT = "It is sunny, 21 degrees."


class Models(Handler):
    """As much of each API as its client needs."""

    def do_POST(self):
        asked = json.loads(self.body())
        if self.path == "/v1/chat/completions":
            self.openai(asked)
        elif self.path == "/v1/messages":
            self.json({"id": "msg_1", "type": "message", "role": "assistant", "model": asked["model"], "content": [{"type": "text", "text": TEXT}],
                       "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 7}})
        elif ":generateContent" in self.path:
            self.json({"candidates": [{"content": {"role": "model", "parts": [{"text": TEXT}]}, "finishReason": "STOP", "index": 0}],
                       "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 7, "totalTokenCount": 16}})
        elif self.path.endswith("/converse"):
            self.json({"output": {"message": {"role": "assistant", "content": [{"text": TEXT}]}}, "stopReason": "end_turn",
                       "usage": {"inputTokens": 9, "outputTokens": 7, "totalTokens": 16}, "metrics": {"latencyMs": 5}})
        elif self.path == "/api/chat":
            lines = [{"model": asked["model"], "created_at": "2026-11-29T00:00:00Z", "message": {"role": "assistant", "content": word + " "}, "done": False}
                     for word in TEXT.split()]
            lines.append({"model": asked["model"], "created_at": "2026-11-29T00:00:00Z", "message": {"role": "assistant", "content": ""}, "done": True})
            self.answer(200, "".join(json.dumps(line) + "\n" for line in lines), "application/x-ndjson")
        else:
            self.answer(404, "no such API")

    def openai(self, asked):
        head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": asked["model"]}
        if not asked.get("stream"):
            message = {"role": "assistant", "content": TEXT}
            return self.json(head | {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                                     "usage": {"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 16}})
        head["object"] = "chat.completion.chunk"
        chunks = [head | {"choices": [{"index": 0, "delta": {"content": word + " "}, "finish_reason": None}]} for word in TEXT.split()]
        chunks.append(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.answer(200, "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n", "text/event-stream")

    def json(self, value):
        self.answer(200, json.dumps(value), "application/json")


def run(lab):
    lab.environment |= {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_EC2_METADATA_DISABLED": "true", "PYTHONDONTWRITEBYTECODE": "1"}
    origin = lab.serve(Models)
    python = lab.tools / "bin" / "python"
    missed = {}
    for name, text in CLIENTS.items():
        script = lab.write(f"agent_{name}.py", PRELUDE + text)

        def case(kind, run, **settings):
            return lab.record(f"{name}-{kind}", [python, script, origin, "first"], replayed=[python, script, origin, run],
                              record_options=["--preset", PRESETS[name]], expect=["sunny"], **settings)

        case("same", "first")
        case("other", "other")
        missed[name] = case("prompt", "prompt", wiretape=3, compare=False)
        # Without the rules, the same changes are a miss: the preset made the difference.
        lab.record(f"{name}-bare", [python, script, origin, "first"], replayed=[python, script, origin, "other"], wiretape=3, compare=False)
    lab.replay()
    for name, case in missed.items():
        log = case.folder / "replay.log"
        text = log.read_text(errors="replace") if log.exists() else ""
        lab.check(f'JSON "{PLACES[name]}"' in text and "Seoul" in text, f"{name}: the miss does not name the prompt", log)
        lab.check("TODAY" not in text and "another order" not in text, f"{name}: the miss names more than the prompt", log)
