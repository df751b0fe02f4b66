internal import Foundation
internal import TapeBytes
internal import TapeExchange
import TapeTestSupport

/// Python's websockets, which writes and reads conversations, and wsproto, which reads them: they check our writer and our reader.
///
/// Their packages are installed once from PyPI, into an environment next to the build; `python` is nil if that is not possible.
enum WebSocketPeers {
    static let python: String? = {
        let repository = URL(fileURLWithPath: #filePath).pathComponents.dropFirst().dropLast(4)
        let folder = "/" + repository.joined(separator: "/") + "/.build/python-websocket"
        let python = folder + "/bin/python"
        let imports = "import websockets.frames, websockets.extensions.permessage_deflate, wsproto"
        if (try? Self.run([python, "-c", imports], Data())) != nil { return python }
        let install =
            "rm -rf \"$0\" && python3 -m venv \"$0\" && "
            + "\"$0/bin/pip\" install --quiet --disable-pip-version-check --retries 0 --timeout 20 'websockets>=13' 'wsproto>=1.2,<2'"
        _ = try? Self.run(["/bin/sh", "-c", install, folder], Data())
        return (try? Self.run([python, "-c", imports], Data())) != nil ? python : nil
    }()

    /// One side of a conversation, and its bytes from our writer.
    struct Case: Codable {
        struct Message: Codable {
            var kind: String
            var hex: String
            var deflated: Bool
            var frames: [Int]
        }
        var client: Bool
        var deflates: Bool
        var forgets: Bool
        var bits: Int
        var messages: [Message]
        var wire: String
    }

    struct Answer: Codable {
        /// The same conversation, written by websockets.
        var written: String
        /// The kind and the bytes of each of our messages, as each library reads them.
        var websockets: [[String]]
        var wsproto: [[String]]
    }

    static func answers(to cases: [Case], by python: String) throws -> [Answer] {
        try JSONDecoder().decode([Answer].self, from: self.run([python, "-c", self.program], JSONEncoder().encode(cases)))
    }

    private static func run(_ command: [String], _ input: Data) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        // A file, so that neither side waits for the other.
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID().uuidString).json")
        try input.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = Pipe()
        process.standardInput = try FileHandle(forReadingFrom: file)
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw TestProblem("\(command[0]) ended with \(process.terminationStatus)") }
        return data
    }

    private static let program = """
        import json, sys
        from websockets.frames import Frame, Opcode
        from websockets.streams import StreamReader
        from websockets.extensions.permessage_deflate import PerMessageDeflate
        import wsproto.extensions, wsproto.frame_protocol

        KINDS = {"text": Opcode.TEXT, "binary": Opcode.BINARY, "ping": Opcode.PING, "pong": Opcode.PONG, "close": Opcode.CLOSE}
        NAMES = {code: name for name, code in KINDS.items()}

        def extension(case):
            return [PerMessageDeflate(case["forgets"], case["forgets"], case["bits"], case["bits"])] if case["deflates"] else []

        def written(case):
            extensions, wire = extension(case), b""
            for message in case["messages"]:
                octets, opcode = bytes.fromhex(message["hex"]), KINDS[message["kind"]]
                start = 0
                for index, size in enumerate(message["frames"]):
                    final = index == len(message["frames"]) - 1
                    frame = Frame(opcode if index == 0 else Opcode.CONT, octets[start:start + size], final)
                    wire += frame.serialize(mask=case["client"], extensions=extensions if message["deflated"] else [])
                    start += size
            return wire

        def websockets(case):
            reader, extensions, messages, parts = StreamReader(), extension(case), [], []
            reader.feed_data(bytes.fromhex(case["wire"]))
            reader.feed_eof()
            while True:
                parser = Frame.parse(reader.read_exact, mask=case["client"], extensions=extensions)
                try:
                    next(parser)
                except EOFError:
                    return messages
                except StopIteration as result:
                    frame = result.value
                if frame.opcode in (Opcode.PING, Opcode.PONG, Opcode.CLOSE):
                    messages.append([NAMES[frame.opcode], bytes(frame.data).hex()])
                    continue
                parts.append(frame)
                if frame.fin:
                    messages.append([NAMES[parts[0].opcode], b"".join(bytes(part.data) for part in parts).hex()])
                    parts = []

        def other(case):
            extensions = []
            if case["deflates"]:
                deflate = wsproto.extensions.PerMessageDeflate(case["forgets"], case["bits"], case["forgets"], case["bits"])
                deflate._enabled = True
                extensions = [deflate]
            protocol = wsproto.frame_protocol.FrameProtocol(not case["client"], extensions)
            protocol.receive_bytes(bytes.fromhex(case["wire"]))
            messages, octets = [], b""
            kind = None
            for frame in protocol.received_frames():
                payload = frame.payload
                if frame.opcode.iscontrol():
                    if frame.opcode.name == "CLOSE":
                        code, reason = payload
                        payload = int(code).to_bytes(2, "big") + (reason or "").encode()
                    messages.append([frame.opcode.name.lower(), bytes(payload).hex()])
                    continue
                kind = kind or frame.opcode.name.lower()
                octets += payload.encode() if isinstance(payload, str) else bytes(payload)
                if frame.message_finished:
                    messages.append([kind, octets.hex()])
                    kind, octets = None, b""
            return messages

        json.dump([{"written": written(case).hex(), "websockets": websockets(case), "wsproto": other(case)} for case in json.load(sys.stdin)], sys.stdout)
        """
}
