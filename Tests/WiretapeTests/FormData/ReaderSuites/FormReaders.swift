import Foundation
import TapeTestSupport

/// Other programs that read forms: parsers from PyPI, which are installed once into an environment next to the build.
///
/// `python` is nil if the installation is not possible.
enum FormReaders {
    static let python: String? = {
        let repository = URL(fileURLWithPath: #filePath).pathComponents.dropFirst().dropLast(5)
        let folder = "/" + repository.joined(separator: "/") + "/.build/python-forms"
        let python = folder + "/bin/python"
        let check = [python, "-c", "import python_multipart, multipart, werkzeug"]
        if (try? Self.run(check)) != nil { return python }
        let packages = "'python-multipart>=0.0.20,<1' 'multipart>=1.2,<3' 'werkzeug>=3,<4'"
        let install =
            "rm -rf \"$0\" && python3 -m venv \"$0\" && "
            + "\"$0/bin/pip\" install --quiet --disable-pip-version-check --retries 0 --timeout 20 \(packages)"
        _ = try? Self.run(["/bin/sh", "-c", install, folder])
        return (try? Self.run(check)) != nil ? python : nil
    }()

    struct Failure: Error {
        var status: Int32
        var errors: String
    }

    /// The program's output for `input`.
    static func run(_ command: [String], input: [UInt8] = []) throws -> Data {
        let folder = try TemporaryFolder()
        try folder.write(input, to: "in")
        for name in ["out", "err"] { try folder.write([], to: name) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardInput = FileHandle(forReadingAtPath: folder.file("in"))
        process.standardOutput = FileHandle(forWritingAtPath: folder.file("out"))
        process.standardError = FileHandle(forWritingAtPath: folder.file("err"))
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(status: process.terminationStatus, errors: String(decoding: try folder.read("err"), as: UTF8.self))
        }
        return Data(try folder.read("out"))
    }

    /// Prints the parts that each parser finds, as `[parser, [[name, filename or null, type or null, hex], …]]`.
    static let script = """
        import io, json, sys
        import multipart, python_multipart
        from python_multipart.multipart import parse_options_header
        from werkzeug.sansio.multipart import MultipartDecoder, Field, File, Data, Epilogue, NeedData

        content_type, body = sys.argv[1], sys.stdin.buffer.read()
        boundary = multipart.parse_options_header(content_type)[1]["boundary"]

        def werkzeug():
            decoder = MultipartDecoder(boundary.encode())
            decoder.receive_data(body)
            decoder.receive_data(None)
            parts, event = [], None
            while not isinstance(event, (Epilogue, NeedData)):
                event = decoder.next_event()
                if isinstance(event, (Field, File)):
                    parts.append([event.name, getattr(event, "filename", None), event.headers.get("content-type"), b""])
                elif isinstance(event, Data):
                    parts[-1][3] += event.data
            return parts

        def defnull():
            parser = multipart.MultipartParser(io.BytesIO(body), boundary, strict=True)
            return [[p.name, p.filename, p.headers.get("content-type"), p.raw] for p in parser.parts()]

        def kludex():
            parts, state = [], {}
            def header_end():
                state["headers"][bytes(state["field"]).lower()] = bytes(state["value"])
                state["field"], state["value"] = bytearray(), bytearray()
            def begin():
                state.update(headers={}, field=bytearray(), value=bytearray(), data=bytearray())
            def end():
                options = parse_options_header(state["headers"][b"content-disposition"])[1]
                text = lambda bytes: None if bytes is None else bytes.decode()
                parts.append([text(options.get(b"name")), text(options.get(b"filename")),
                    text(state["headers"].get(b"content-type")), bytes(state["data"])])
            parser = python_multipart.MultipartParser(boundary.encode(), {
                "on_part_begin": begin, "on_part_end": end, "on_header_end": header_end,
                "on_header_field": lambda d, a, b: state["field"].extend(d[a:b]),
                "on_header_value": lambda d, a, b: state["value"].extend(d[a:b]),
                "on_part_data": lambda d, a, b: state["data"].extend(d[a:b])})
            parser.write(body)
            parser.finalize()
            return parts

        def plain(text):
            return text and text.replace("%22", '"').replace("%0D", "\\r").replace("%0A", "\\n")

        for parser in (werkzeug, defnull, kludex):
            parts = [[plain(name), plain(filename), type, data.hex()] for name, filename, type, data in parser()]
            print(json.dumps([parser.__name__, parts]))
        """
}
