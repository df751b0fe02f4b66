"""Official clients of models and of MCP: ids, dates and the order of tools change between recording and replay, and a preset alone matches."""
import json
import pathlib
import re
import subprocess

from harness import free_port
from models import Models

NEEDS = "python:python3"
PYPI = ["anthropic==2.14.0", "boto3==1.44.8", "cohere==7.3.1", "google-genai==3.6.1", "groq==1.7.0", "huggingface_hub==2.4.0", "langchain-openai==1.7.4", "litellm==1.110.2",
        "mcp==2.3.0", "mistralai==3.7.0", "ollama==0.6.3", "openai==3.57.0", "pydantic-ai==2.62.0", "uvicorn==0.54.0"]
# Some of the clients need seconds to be imported.
BOUND = 1800

# What a run of the agent has of its own. In the run "prompt", one request asks something else.
PRELUDE = """
import json, os, sys
URL, RUN = sys.argv[1], sys.argv[2]
OTHER = RUN != "first"
DAY = "2027-02-03" if OTHER else "2026-11-29"
ID = "b7Zx90" if OTHER else "a1Qw23"
SYSTEM = f"You are an agent. {'Be brief. ' * 30}Today is {DAY}. Answer in one sentence."
ASK = "What is the weather in Tokyo?"
# One request of the run asks something else.
CHANGED = "What is the weather in Seoul?" if RUN == "prompt" else ASK
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"type": "string"}}, "required": ["unit", "city"] if OTHER else ["city", "unit"]}
NAMES = ["weather", "search", "clock"]
if OTHER:
    NAMES.reverse()
NOTES = b"notes of the tests\\n" * 20
def step(name, call):
    try:
        print(name, call())
    except Exception as error:
        print(name, "refused", type(error).__name__)
        if not OTHER:
            print(error, file=sys.stderr)
def joined(parts):
    # What comes before the stream ends or is cut.
    got = []
    try:
        for part in parts:
            if part:
                got.append(part)
    except Exception as error:
        got.append(f"<{type(error).__name__}>")
    return "".join(got)
"""

CLIENTS = {
    "openai": """
import openai
client = openai.OpenAI(base_url=URL + "/v1", api_key="sk-test-0123456789abcdef0123456789", max_retries=2)
tools = [{"type": "function", "function": {"name": name, "description": f"the {name}", "parameters": SCHEMA}} for name in NAMES]
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "hello"},
    {"role": "assistant", "tool_calls": [{"id": f"call_{ID}", "type": "function", "function": {"name": "clock", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": f"call_{ID}", "content": "noon"}, {"role": "user", "content": ASK}]
def create(model, messages, **settings):
    return client.chat.completions.create(model=model, messages=messages, tools=tools, user=f"user-{ID}", **settings)
def words(model):
    for chunk in create(model, messages, stream=True):
        yield chunk.choices[0].delta.content
def agent():
    calls, turns = {}, list(messages)
    for chunk in create("gpt-tools", turns, stream=True, stream_options={"include_usage": True}):
        for call in (chunk.choices[0].delta.tool_calls or []):
            have = calls.setdefault(call.index, {"id": "", "name": "", "arguments": ""})
            have["id"] += call.id or ""
            have["name"] += call.function.name or ""
            have["arguments"] += call.function.arguments or ""
    turns.append({"role": "assistant", "tool_calls": [{"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}} for call in calls.values()]})
    turns += [{"role": "tool", "tool_call_id": call["id"], "content": "sunny, 21"} for call in calls.values()]
    return calls, create("gpt-tools", turns).choices[0].message.content
def respond():
    settings = dict(model="gpt-tools", instructions=SYSTEM, tools=[{"type": "function", "name": name, "parameters": SCHEMA, "strict": False} for name in NAMES], safety_identifier=f"user-{ID}")
    asked = [{"role": "user", "content": ASK}]
    first = client.responses.create(input=asked, **settings)
    for item in first.output:
        asked += [item.model_dump(exclude_none=True), {"type": "function_call_output", "call_id": item.call_id, "output": "sunny, 21"}]
    return "".join(event.delta for event in client.responses.create(input=asked, stream=True, **settings) if event.type == "response.output_text.delta")
step("chat", lambda: create("gpt-test", [*messages[:-1], {"role": "user", "content": CHANGED}]).choices[0].message.content)
step("stream", lambda: joined(words("gpt-test")))
step("agent", agent)
step("busy", lambda: create("gpt-busy", messages).choices[0].message.content)
step("cut", lambda: joined(words("gpt-cut")))
step("responses", respond)
step("embeddings", lambda: client.embeddings.create(model="embed", input="Tokyo").data[0].embedding)
step("upload", lambda: client.files.create(file=("notes.txt", NOTES), purpose="assistants").id)
""",
    "anthropic": """
import anthropic
client = anthropic.Anthropic(base_url=URL, api_key="sk-ant-test-0123456789abcdef0123456789", max_retries=2)
tools = [{"name": name, "description": f"the {name}", "input_schema": SCHEMA} for name in NAMES]
def asking(text):
    return [{"role": "user", "content": "hello"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": f"toolu_{ID}", "name": "clock", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{ID}", "content": "noon"}, {"type": "text", "text": text}]}]
def settings(model, messages):
    return dict(model=model, max_tokens=99, system=SYSTEM, messages=messages, tools=tools, metadata={"user_id": f"user-{ID}"})
def words(model):
    with client.messages.stream(**settings(model, asking(ASK))) as stream:
        yield from stream.text_stream
def agent():
    turns = asking(ASK)
    with client.messages.stream(**settings("claude-tools", turns)) as stream:
        answer = stream.get_final_message()
    turns.append({"role": "assistant", "content": [part.model_dump(exclude_none=True) for part in answer.content]})
    turns.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": part.id, "content": "sunny, 21"} for part in answer.content]})
    return [part.input for part in answer.content], client.messages.create(**settings("claude-tools", turns)).content[0].text
step("chat", lambda: client.messages.create(**settings("claude-test", asking(CHANGED))).content[0].text)
step("stream", lambda: joined(words("claude-test")))
step("agent", agent)
step("busy", lambda: client.messages.create(**settings("claude-busy", asking(ASK))).content[0].text)
step("cut", lambda: joined(words("claude-cut")))
step("upload", lambda: client.beta.files.upload(file=("notes.txt", NOTES, "text/plain")).id)
""",
    "gemini": """
import io
from google import genai
from google.genai import types
options = types.HttpOptions(base_url=URL, retry_options=types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.02))
client = genai.Client(api_key="AIzaSyTest0123456789abcdefghijklmnopqrs", http_options=options)
tools = [types.Tool(function_declarations=[types.FunctionDeclaration(name=name, description=f"the {name}", parameters_json_schema=SCHEMA) for name in NAMES])]
config = types.GenerateContentConfig(system_instruction=SYSTEM, tools=tools, automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True))
def history(text):
    return [types.Content(role="user", parts=[types.Part(text="hello")]),
        types.Content(role="model", parts=[types.Part(function_call=types.FunctionCall(id=f"call-{ID}", name="clock", args={}))]),
        types.Content(role="user", parts=[types.Part(function_response=types.FunctionResponse(id=f"call-{ID}", name="clock", response={"result": "noon"}))]),
        types.Content(role="user", parts=[types.Part(text=text)])]
def words(model):
    for chunk in client.models.generate_content_stream(model=model, contents=history(ASK), config=config):
        yield chunk.text
def agent():
    turns, parts = history(ASK), []
    for chunk in client.models.generate_content_stream(model="gemini-tools", contents=turns, config=config):
        parts += [part for part in chunk.candidates[0].content.parts]
    turns.append(types.Content(role="model", parts=parts))
    turns.append(types.Content(role="user", parts=[types.Part(function_response=types.FunctionResponse(id=part.function_call.id, name="weather", response={"result": "sunny"})) for part in parts]))
    return [part.function_call.args for part in parts], client.models.generate_content(model="gemini-tools", contents=turns, config=config).text
step("chat", lambda: client.models.generate_content(model="gemini-test", contents=history(CHANGED), config=config).text)
step("stream", lambda: joined(words("gemini-test")))
step("agent", agent)
step("busy", lambda: client.models.generate_content(model="gemini-busy", contents=history(ASK), config=config).text)
step("cut", lambda: joined(words("gemini-cut")))
step("upload", lambda: client.files.upload(file=io.BytesIO(NOTES), config=types.UploadFileConfig(mime_type="text/plain", display_name="notes.txt")).uri)
""",
    "bedrock": """
import boto3
from botocore.config import Config
client = boto3.client("bedrock-runtime", endpoint_url=URL, region_name="us-east-1", config=Config(retries={"max_attempts": 3, "mode": "standard"}))
tools = [{"toolSpec": {"name": name, "description": f"the {name}", "inputSchema": {"json": SCHEMA}}} for name in NAMES]
def asking(text):
    return [{"role": "user", "content": [{"text": "hello"}]}, {"role": "assistant", "content": [{"toolUse": {"toolUseId": f"tooluse_{ID}", "name": "clock", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": f"tooluse_{ID}", "content": [{"text": "noon"}]}}, {"text": text}]}]
def settings(model, messages):
    return dict(modelId=model, system=[{"text": SYSTEM}], messages=messages, toolConfig={"tools": tools})
def words(model):
    for part in client.converse_stream(**settings(model, asking(ASK)))["stream"]:
        yield part.get("contentBlockDelta", {}).get("delta", {}).get("text")
def agent():
    turns, arguments, use = asking(ASK), "", {}
    for part in client.converse_stream(**settings("model-tools", turns))["stream"]:
        use = part.get("contentBlockStart", {}).get("start", {}).get("toolUse", use)
        arguments += part.get("contentBlockDelta", {}).get("delta", {}).get("toolUse", {}).get("input", "")
    turns.append({"role": "assistant", "content": [{"toolUse": use | {"input": json.loads(arguments)}}]})
    turns.append({"role": "user", "content": [{"toolResult": {"toolUseId": use["toolUseId"], "content": [{"text": "sunny, 21"}]}}]})
    return arguments, client.converse(**settings("model-tools", turns))["output"]["message"]["content"][0]["text"]
def invoke():
    for part in client.invoke_model_with_response_stream(modelId="model-raw", body=json.dumps({"prompt": ASK}))["body"]:
        yield json.loads(part["chunk"]["bytes"])["completion"]
step("chat", lambda: client.converse(**settings("model-test", asking(CHANGED)))["output"]["message"]["content"][0]["text"])
step("stream", lambda: joined(words("model-test")))
step("agent", agent)
step("busy", lambda: client.converse(**settings("model-busy", asking(ASK)))["output"]["message"]["content"][0]["text"])
step("cut", lambda: joined(words("model-cut")))
step("invoke", lambda: joined(invoke()))
""",
    "ollama": """
import ollama
client = ollama.Client(host=URL)
tools = [{"type": "function", "function": {"name": name, "description": f"the {name}", "parameters": SCHEMA}} for name in NAMES]
def asking(text):
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
def words(model):
    for part in client.chat(model=model, messages=asking(ASK), tools=tools, stream=True):
        yield part.message.content
def agent():
    turns = asking(ASK)
    parts = list(client.chat(model="llama-tools", messages=turns, tools=tools, stream=True))
    calls = [call for part in parts for call in (part.message.tool_calls or [])]
    turns.append({"role": "assistant", "tool_calls": [call.model_dump() for call in calls]})
    turns.append({"role": "tool", "content": "sunny, 21", "tool_name": "weather"})
    return [call.function.arguments for call in calls], client.chat(model="llama-tools", messages=turns, tools=tools).message.content
step("chat", lambda: client.chat(model="llama-test", messages=asking(CHANGED), tools=tools).message.content)
step("stream", lambda: joined(words("llama-test")))
step("agent", agent)
step("cut", lambda: joined(words("llama-cut")))
""",
    "litellm": """
import litellm
litellm.suppress_debug_info = True
tools = [{"type": "function", "function": {"name": name, "description": f"the {name}", "parameters": SCHEMA}} for name in NAMES]
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "hello"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": f"call_{ID}", "type": "function", "function": {"name": "clock", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": f"call_{ID}", "content": "noon"}, {"role": "user", "content": ASK}]
def create(model, messages, **settings):
    if model.startswith("anthropic"):
        messages = json.loads(json.dumps(messages).replace(f"call_{ID}", f"toolu_{ID}"))
    return litellm.completion(model=model, messages=messages, tools=tools, api_base=URL + ("/v1" if model.startswith("openai") else ""), api_key="sk-test-0123456789abcdef0123456789", **settings)
def words(model):
    for chunk in create(model, messages, stream=True):
        yield chunk.choices[0].delta.content
def agent(model):
    turns = list(messages)
    answer = create(model, turns).choices[0].message
    turns.append(answer.model_dump(exclude_none=True))
    turns += [{"role": "tool", "tool_call_id": call.id, "content": "sunny, 21"} for call in answer.tool_calls]
    return [call.function.arguments for call in answer.tool_calls], create(model, turns).choices[0].message.content
step("chat", lambda: create("openai/gpt-test", [*messages[:-1], {"role": "user", "content": CHANGED}]).choices[0].message.content)
step("stream", lambda: joined(words("openai/gpt-test")))
step("agent", lambda: agent("openai/gpt-tools"))
step("busy", lambda: create("openai/gpt-busy", messages, num_retries=2).choices[0].message.content)
step("cut", lambda: joined(words("openai/gpt-cut")))
step("anthropic", lambda: joined(words("anthropic/claude-test")))
step("anthropic agent", lambda: agent("anthropic/claude-tools"))
""",
    "langchain": """
from langchain_openai import ChatOpenAI
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
tools = [{"type": "function", "function": {"name": name, "description": f"the {name}", "parameters": SCHEMA}} for name in NAMES]
messages = [SystemMessage(SYSTEM), HumanMessage("hello"), AIMessage("", tool_calls=[{"id": f"call_{ID}", "name": "clock", "args": {}}]), ToolMessage("noon", tool_call_id=f"call_{ID}"), HumanMessage(ASK)]
def model(name):
    return ChatOpenAI(model=name, base_url=URL + "/v1", api_key="sk-test-0123456789abcdef0123456789", max_retries=2, model_kwargs={"user": f"user-{ID}"}).bind_tools(tools)
def agent():
    turns, answer = list(messages), None
    for chunk in model("gpt-tools").stream(turns):
        answer = chunk if answer is None else answer + chunk
    turns.append(AIMessage("", tool_calls=answer.tool_calls))
    turns += [ToolMessage("sunny, 21", tool_call_id=call["id"]) for call in answer.tool_calls]
    return [call["args"] for call in answer.tool_calls], model("gpt-tools").invoke(turns).text
step("chat", lambda: model("gpt-test").invoke([*messages[:-1], HumanMessage(CHANGED)]).text)
step("stream", lambda: joined(chunk.text for chunk in model("gpt-test").stream(messages)))
step("agent", agent)
step("busy", lambda: model("gpt-busy").invoke(messages).text)
step("cut", lambda: joined(chunk.text for chunk in model("gpt-cut").stream(messages)))
""",
    "pydantic_ai": """
import asyncio
from pydantic_ai import Agent, Tool
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider
def weather(city: str, unit: str) -> str:
    return "sunny, 21"
def search(city: str) -> str:
    return "nothing"
def clock() -> str:
    return "noon"
FUNCTIONS = [{"weather": weather, "search": search, "clock": clock}[name] for name in NAMES]
def agent(name):
    if name.startswith("claude"):
        model = AnthropicModel(name, provider=AnthropicProvider(base_url=URL, api_key="sk-ant-test-0123456789abcdef0123456789"))
    else:
        model = OpenAIChatModel(name, provider=OpenAIProvider(base_url=URL + "/v1", api_key="sk-test-0123456789abcdef0123456789"))
    return Agent(model, instructions=SYSTEM, tools=FUNCTIONS)
async def streamed(name):
    got = []
    try:
        async with agent(name).run_stream(ASK) as run:
            async for piece in run.stream_text(delta=True, debounce_by=None):
                got.append(piece)
    except Exception as error:
        got.append(f"<{type(error).__name__}>")
    return "".join(got)
step("chat", lambda: agent("gpt-test").run_sync(CHANGED).output)
step("stream", lambda: asyncio.run(streamed("gpt-test")))
step("agent", lambda: agent("gpt-tools").run_sync(ASK).output)
step("busy", lambda: agent("gpt-busy").run_sync(ASK).output)
step("cut", lambda: asyncio.run(streamed("gpt-cut")))
step("anthropic agent", lambda: agent("claude-tools").run_sync(ASK).output)
""",
    "huggingface": """
from huggingface_hub import InferenceClient
client = InferenceClient(base_url=URL + "/v1", api_key="hf_0123456789abcdef0123456789abcdef01")
tools = [{"type": "function", "function": {"name": name, "description": f"the {name}", "parameters": SCHEMA}} for name in NAMES]
def asking(text):
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
def words(model):
    for chunk in client.chat_completion(asking(ASK), model=model, tools=tools, stream=True):
        yield chunk.choices[0].delta.content
step("chat", lambda: client.chat_completion(asking(CHANGED), model="zephyr-test", tools=tools).choices[0].message.content)
step("stream", lambda: joined(words("zephyr-test")))
step("agent", lambda: client.chat_completion(asking(ASK), model="zephyr-tools", tools=tools).choices[0].message.tool_calls[0].function.arguments)
step("cut", lambda: joined(words("zephyr-cut")))
step("upload", lambda: InferenceClient(api_key="hf_0123456789abcdef0123456789abcdef01").automatic_speech_recognition(NOTES, model=URL + "/speech").text)
""",
    "cohere": """
import cohere
client = cohere.ClientV2(base_url=URL, api_key="0123456789abcdefghijklmnopqrstuvwxyzABCD")
tools = [{"type": "function", "function": {"name": name, "description": f"the {name}", "parameters": SCHEMA}} for name in NAMES]
def asking(text):
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
def words(model):
    for part in client.chat_stream(model=model, messages=asking(ASK), tools=tools):
        yield part.delta.message.content.text if part.type == "content-delta" else None
def agent():
    turns = asking(ASK)
    answer = client.chat(model="command-tools", messages=turns, tools=tools).message
    turns.append({"role": "assistant", "tool_calls": [call.model_dump(exclude_none=True) for call in answer.tool_calls]})
    turns += [{"role": "tool", "tool_call_id": call.id, "content": "sunny, 21"} for call in answer.tool_calls]
    return [call.function.arguments for call in answer.tool_calls], client.chat(model="command-tools", messages=turns, tools=tools).message.content[0].text
step("chat", lambda: client.chat(model="command-test", messages=asking(CHANGED), tools=tools).message.content[0].text)
step("stream", lambda: joined(words("command-test")))
step("agent", agent)
step("busy", lambda: client.chat(model="command-busy", messages=asking(ASK), tools=tools).message.content[0].text)
step("cut", lambda: joined(words("command-cut")))
""",
    "mistral": """
from mistralai.client import Mistral
from mistralai.client.utils import BackoffStrategy, RetryConfig
retries = RetryConfig("backoff", BackoffStrategy(1, 5, 1.1, 2000), True)
client = Mistral(server_url=URL, api_key="0123456789abcdefghijklmnopqrstuv", retry_config=retries)
tools = [{"type": "function", "function": {"name": name, "description": f"the {name}", "parameters": SCHEMA}} for name in NAMES]
def asking(text):
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
def words(model):
    for part in client.chat.stream(model=model, messages=asking(ASK), tools=tools):
        yield part.data.choices[0].delta.content
def agent():
    turns = asking(ASK)
    answer = client.chat.complete(model="mistral-tools", messages=turns, tools=tools).choices[0].message
    turns.append(answer)
    turns += [{"role": "tool", "tool_call_id": call.id, "name": "weather", "content": "sunny, 21"} for call in answer.tool_calls]
    return [call.function.arguments for call in answer.tool_calls], client.chat.complete(model="mistral-tools", messages=turns, tools=tools).choices[0].message.content
step("chat", lambda: client.chat.complete(model="mistral-test", messages=asking(CHANGED), tools=tools).choices[0].message.content)
step("stream", lambda: joined(words("mistral-test")))
step("agent", agent)
step("busy", lambda: client.chat.complete(model="mistral-busy", messages=asking(ASK), tools=tools).choices[0].message.content)
step("cut", lambda: joined(words("mistral-cut")))
step("upload", lambda: client.files.upload(file={"file_name": "notes.jsonl", "content": NOTES}, purpose="batch").id)
""",
    "groq": """
import groq
client = groq.Groq(base_url=URL, api_key="gsk_0123456789abcdef0123456789abcdef0123456789abcdef", max_retries=2)
tools = [{"type": "function", "function": {"name": name, "description": f"the {name}", "parameters": SCHEMA}} for name in NAMES]
def asking(text):
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
def create(model, messages, **settings):
    return client.chat.completions.create(model=model, messages=messages, tools=tools, user=f"user-{ID}", **settings)
def words(model):
    for part in create(model, asking(ASK), stream=True):
        yield part.choices[0].delta.content
def agent():
    turns = asking(ASK)
    answer = create("gpt-tools", turns).choices[0].message
    turns.append(answer.model_dump(exclude_none=True))
    turns += [{"role": "tool", "tool_call_id": call.id, "content": "sunny, 21"} for call in answer.tool_calls]
    return [call.function.arguments for call in answer.tool_calls], create("gpt-tools", turns).choices[0].message.content
step("chat", lambda: create("gpt-test", asking(CHANGED)).choices[0].message.content)
step("stream", lambda: joined(words("gpt-test")))
step("agent", agent)
step("busy", lambda: create("gpt-busy", asking(ASK)).choices[0].message.content)
step("cut", lambda: joined(words("gpt-cut")))
step("upload", lambda: client.audio.transcriptions.create(file=("speech.wav", NOTES), model="whisper").text)
""",
    "mcp": """
import asyncio
from mcp import Client
from mcp.shared import jsonrpc_dispatcher
begin = jsonrpc_dispatcher.JSONRPCDispatcher.__init__
def numbered(self, *arguments, **settings):
    begin(self, *arguments, **settings)
    # Another client counts its calls from another number.
    self._next_id = 500 if OTHER else 0
jsonrpc_dispatcher.JSONRPCDispatcher.__init__ = numbered
async def session(mode):
    async with Client(sys.argv[3], mode=mode) as client:
        names = sorted(tool.name for tool in (await client.list_tools()).tools)
        got = []
        async def progress(done, total, message):
            got.append((done, message))
        city = "Seoul" if RUN == "prompt" and mode == "legacy" else "Tokyo"
        # The client finds the call of a notification by the token, which is its number of the call.
        first = await client.call_tool("weather", {"city": city}, progress_callback=progress)
        second, third = await asyncio.gather(client.call_tool("clock", {"zone": "UTC"}), client.call_tool("clock", {"zone": "JST"}))
        return client.protocol_version, names, [answer.content[0].text for answer in (first, second, third)], got
step("legacy", lambda: asyncio.run(session("legacy")))
step("modern", lambda: asyncio.run(session("auto")))
""",
}

# The APIs of the others have no preset of their own: OpenAI's rules name the same places.
PRESETS = {"anthropic": ["anthropic"], "gemini": ["gemini"], "bedrock": ["bedrock"], "litellm": ["openai", "anthropic"], "pydantic_ai": ["openai", "anthropic"], "mcp": ["mcp"]}
# Where the changed prompt is.
PLACES = {
    "openai": "/messages/4/content", "anthropic": "/messages/2/content/1/text", "gemini": "/contents/3/parts/0/text", "bedrock": "/messages/2/content/1/text",
    "litellm": "/messages/4/content", "langchain": "/messages/4/content", "mcp": "/params/arguments/city",
}
# Clients that this server of MCP serves both ways: with a session and without.
TOOLS = """
import sys
from mcp.server.mcpserver import Context, MCPServer
server = MCPServer("tools")
@server.tool()
async def weather(city: str, context: Context) -> str:
    await context.report_progress(1, 2, "looking")
    await context.report_progress(2, 2, "found")
    return f"It is sunny in {city}."
@server.tool()
def clock(zone: str) -> str:
    return f"It is noon in {zone}."
server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""


class Refusing(Models):
    """The server of docs/agents.md: it refuses twice, then cuts a stream, and then answers."""

    steps = [429, 529, "tools, cut"]

    def do_POST(self):
        asked, step = json.loads(self.body()), self.steps.pop(0) if self.steps else "tools"
        if isinstance(step, int):
            return self.answer(step, '{"error": {"message": "busy"}}', "application/json", Retry_After_Ms="1")
        self.model = step
        self.chat(self.path, asked, b"")


def run(lab):
    lab.environment |= {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_EC2_METADATA_DISABLED": "true", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                        "PYTHONDONTWRITEBYTECODE": "1"}
    origin, python, port = lab.serve(Models), lab.tools / "bin" / "python", free_port()
    lab.start("tools", [python, lab.write("tools.py", TOOLS), port], port)
    cases = {}
    for name, text in CLIENTS.items():
        script = lab.write(f"agent_{name}.py", PRELUDE + text)
        command = [python, script, origin, "first", f"http://127.0.0.1:{port}/mcp"]
        presets = [word for preset in PRESETS.get(name, ["openai"]) for word in ("--preset", preset)]
        cases[name] = lab.record(name, command, replayed=[*command[:3], "other", *command[4:]], record_options=presets, expect=["sunny"])
        lab.check("refused" not in printed(cases[name]), f"{name}: a step of the recording failed", cases[name].folder / "recorded")
    page = record_page(lab, python)
    lab.replay()
    replay_page(lab, python, page)
    for name, case in cases.items():
        if case.ready:
            changed_prompt(lab, name, case)
            without_preset(lab, name, case)


PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "agents.md"


def on_page(lab, python, command, day, **environment):
    """Runs a command of the page as it is typed, on another day for each run."""
    tools = lab.path("page", "bin")
    tools.mkdir(parents=True, exist_ok=True)
    # A date of its own: the prompt contains it.
    lab.write("page/bin/python", f'#!/bin/sh\nsed "s/{{datetime.date.today()}}/{day}/" chat.py > run.py\nshift\nexec {python} run.py "$@"\n').chmod(0o755)
    if not (tools / "wiretape").exists():
        (tools / "wiretape").symlink_to(lab.wiretape)
    return subprocess.run(["sh", "-c", command], env=lab.environment | environment | {"PATH": f"{tools}:{lab.environment['PATH']}"}, cwd=lab.path("page"), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=120, check=False, text=True)


def page_commands():
    return re.findall(r"^    (?:\$ )?(wiretape (?:record|replay) chat\.json .*)$", PAGE.read_text(), re.M)


def record_page(lab, python):
    lab.write("page/chat.py", re.search(r"^```python\n(# chat\.py\n.*?)^```", PAGE.read_text(), re.M | re.S)[1])
    environment = {"OPENAI_API_KEY": "sk-test-0123456789abcdef0123456789", "OPENAI_BASE_URL": lab.serve(Refusing) + "/v1"}
    done = on_page(lab, python, page_commands()[0], "2026-11-29", **environment)
    lab.check(done.returncode == 0 and "recorded 5 exchanges" in done.stderr, f"docs/agents.md: the recording ends with {done.returncode}", lab.write("page.record.log", done.stdout + done.stderr))
    return environment


def replay_page(lab, python, environment):
    _, hit, miss = page_commands()
    text = PAGE.read_text()
    for command, hits in ((hit, True), (miss, False)):
        done = on_page(lab, python, command, "2027-02-03", **environment)
        log = lab.write(f"page.{'hit' if hits else 'miss'}.log", done.stdout + done.stderr)
        lab.check((done.returncode == 0) == hits, f'docs/agents.md: "{command}" ends with {done.returncode}', log)
        shown = re.search(r"\$ " + re.escape(command) + r"\n((?:    .*\n)+)", text)[1]
        for line in [line[4:] for line in shown.splitlines() if not line.startswith("    $") and line.strip() != "…"]:
            lab.check(line in [line.rstrip() for line in (done.stdout + done.stderr).splitlines()], f'docs/agents.md: "{command}" does not print {line!r}', log)


def printed(case):
    return (case.folder / "recorded" / "stdout").read_text()


def again(case, run, cassette, *options):
    """Replays the cassette to the client in another run, and returns the exit code, what the client printed, and wiretape's log."""
    command = [*case.command[:3], run, *case.command[4:]]
    words = [case.lab.wiretape, "replay", cassette, *options, "--", *command]
    done = subprocess.run([str(word) for word in words], env=case.lab.environment, cwd=case.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=case.bound, check=False, text=True)
    return done.returncode, done.stdout, done.stderr


def changed_prompt(lab, name, case):
    """One miss at the place of the prompt; with the proposed rule, there is none."""
    code, output, report = again(case, "prompt", case.cassette)
    log = lab.write(f"{name}.prompt.log", output + report)
    place = PLACES.get(name, "/messages/1/content")
    first = report.split("\n  exchange")[1] if "\n  exchange" in report else ""
    differences = [line for line in first.splitlines() if line.startswith("    ")]
    lab.check(code == 3 and report.count("wiretape: miss:") == 1, f"{name}: a changed prompt is not one miss: the replay ends with {code}", log)
    lab.check(len(differences) == 1 and f'JSON "{place}"' in first and "Seoul" in first, f"{name}: the miss does not name the prompt alone", log)
    lines = list(zip(printed(case).splitlines(), output.splitlines()))
    lab.check([recorded == replayed for recorded, replayed in lines].count(False) == 1, f"{name}: not one step differs", log)
    rules = [word for rule in re.findall(r"--ignore ('[^']*'|\S+)", report) for word in ("--ignore", rule.strip("'"))]
    lab.check(rules == ["--ignore", f"json:{place}"], f"{name}: the proposed rules are {rules}", log)
    code, output, report = again(case, "prompt", case.cassette, *rules)
    log = lab.write(f"{name}.rule.log", output + report)
    lab.check(code == 0 and output == printed(case), f"{name}: the proposed rule does not help: the replay ends with {code}", log)


def without_preset(lab, name, case):
    """Without the rules, what a hit needs them for is a miss: the preset made the difference."""
    tape = json.loads(case.cassette.read_bytes())
    if not lab.check("match" in tape, f"{name}: the preset is not in the head", case.cassette):
        return
    del tape["match"]
    bare = lab.write(f"cases/{name}/cassette/bare.json", json.dumps(tape))
    code, output, report = again(case, "other", bare)
    lab.check(code == 3, f"{name}: without its preset, the replay ends with {code}", lab.write(f"{name}.bare.log", output + report))
