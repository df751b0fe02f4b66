internal import CassetteModel

/// A tool whose files are recognised but cannot be read, and another way to get its recordings into a cassette.
struct OtherTool {
    private let name: String
    /// What to do, as the end of a sentence.
    private let way: String

    private init(_ name: String, _ way: String) {
        self.name = name
        self.way = way
    }

    /// Recognised by the end of a file's name, for formats without a characteristic beginning.
    init?(path: String) {
        let name = path.lowercased()
        let known: [(ends: [String], tool: OtherTool)] = [
            (
                [".chls"],
                OtherTool(
                    "Charles, in its own binary format", "in Charles, choose File > Export Session, and the format JSON (.chlsj) or HAR")
            ),
            ([".proxymanlog", ".proxymanlogv2", ".proxymansession"], OtherTool("Proxyman", "in Proxyman, choose File > Export > HAR")),
            ([".bru"], OtherTool("Bruno, which has requests without answers", "send them through \"wiretape record\"")),
            ([".jtl"], OtherTool("JMeter, whose results lack bodies", "run the plan through \"wiretape record\"")),
            ([".jmx"], OtherTool("JMeter, which has requests without answers", "run the plan through \"wiretape record\"")),
            ([".paw", ".rapidapi"], OtherTool("Paw", "in Paw, export HAR, or send the requests through \"wiretape record\"")),
            ([".etl"], OtherTool("Event Tracing for Windows", "in the browser, save a HAR")),
            ([".httptoolkit"], OtherTool("HTTP Toolkit", "in HTTP Toolkit, choose Export as HAR")),
        ]
        guard let found = known.first(where: { $0.ends.contains(where: name.hasSuffix) }) else { return nil }
        self = found.tool
    }

    /// Recognised by the first four bytes of a packet capture: pcap in either byte order, in micro- or nanoseconds, or pcapng.
    init?(capture bytes: [UInt8]) {
        let marks: [[UInt8]] = [
            [0xD4, 0xC3, 0xB2, 0xA1], [0xA1, 0xB2, 0xC3, 0xD4], [0x4D, 0x3C, 0xB2, 0xA1], [0xA1, 0xB2, 0x3C, 0x4D],
            [0x0A, 0x0D, 0x0D, 0x0A],
        ]
        guard marks.contains(bytes) else { return nil }
        self.init(
            "tcpdump or Wireshark, which has packets",
            "make a HAR of it (pcap2har, with the session keys for TLS), or record with \"wiretape record\"")
    }

    /// Recognised by the first bytes of a file.
    init?(beginning: ArraySlice<UInt8>) {
        func starts(_ bytes: [UInt8]) -> Bool { beginning.starts(with: bytes) }
        let text = String(decoding: beginning.prefix(2048), as: UTF8.self)
        if text.hasPrefix("!tape") {
            self.init("OkReplay or Betamax for Java", "run the tests once more through \"wiretape record\"")
        } else if text.hasPrefix("{"), ["req:", "meta:"].allSatisfy(text.contains), text.contains("createdAt") || text.contains("res:") {
            self.init("Talkback, in JSON5", "start it, and record it with \"wiretape record\"")
        } else if text.hasPrefix("timeStamp,elapsed,") {
            self.init("JMeter, whose results lack bodies", "run the plan through \"wiretape record\"")
        } else if text.contains("module.exports = function (req, res)") {
            self.init("yakbak, as JavaScript", "start it, and record it with \"wiretape record\"")
        } else if starts(Array("SQLite format 3".utf8)) {
            self.init("a program with a database (SQLite), as ZAP and Requestly have", "export HAR there")
        } else if starts(Array("bplist00".utf8)) {
            self.init("a program of Apple's platforms, in a binary property list", "export HAR there")
        } else if text.contains("<charles-session") {
            self.init("Charles, in XML", "in Charles, choose File > Export Session, and the format JSON (.chlsj) or HAR")
        } else if text.contains("<jmeterTestPlan") || text.contains("<testResults") {
            self.init("JMeter", "run the plan through \"wiretape record\"")
        } else if text.contains("<con:soapui-project") {
            self.init("SoapUI, which has requests without answers", "send them through \"wiretape record\"")
        } else if text.hasPrefix("openapi:") || text.hasPrefix("swagger:") || text.contains("\nopenapi:") || text.contains("\nswagger:") {
            self.init(
                "OpenAPI, which describes an API and records nothing", "record a server of it, or of its mock, with \"wiretape record\"")
        } else if text.contains("collection.insomnia.rest/") || text.hasPrefix("_type: export") {
            self.init("Insomnia, which has requests without answers", "in Insomnia, export HAR, or send them through \"wiretape record\"")
        } else if text.contains("nock('http") || text.contains("nock(\"http") {
            self.init(
                "nock, as JavaScript", "record with \"output_objects: true\" or nock.back, and import the definitions as JSON")
        } else if Self.isCurl(text) {
            self.init("curl, whose output does not tell where a body ends", "run curl through \"wiretape record\"")
        } else if text.hasPrefix("httprr trace v") {
            self.init(
                "a version of httprr that is not known here (\(text.prefix { !$0.isNewline }.prefix(24)))",
                "record with a version that writes \"httprr trace v1\", or through \"wiretape record\"")
        } else if text.hasPrefix("<?xml") || text.hasPrefix("<!DOCTYPE") {
            self.init("a program that writes XML", "export HAR there")
        } else {
            return nil
        }
    }

    /// A file of requests for an HTTP client of an editor, by its name. Only to be asked of a file that has no messages as they are sent.
    init?(requests path: String) {
        guard [".http", ".rest"].contains(where: path.lowercased().hasSuffix) else { return nil }
        self.init("an editor's HTTP client, and has requests without answers", "send them through \"wiretape record\"")
    }

    /// Whether it is what curl prints with `-v` or `--trace`: each line that was sent or received has a mark.
    private static func isCurl(_ text: String) -> Bool {
        if text.hasPrefix("== Info:") || text.hasPrefix("=> Send header") { return true }
        return text.split(whereSeparator: \.isNewline).contains { line in
            line.hasPrefix("> ") && WireMessages.isStartLine(Array("\(line.dropFirst(2))\n".utf8)[...])
        }
    }

    /// Recognised by the name of a member of the outermost object.
    ///
    /// - Parameter names: the names of the members so far, including this one.
    init?(member name: String, _ names: [String]) {
        switch name {
        case "openapi", "swagger":
            self.init(
                "OpenAPI, which describes an API and records nothing", "record a server of it, or of its mock, with \"wiretape record\"")
        case "__export_format", "__export_source":
            self.init("Insomnia, which has requests without answers", "in Insomnia, export HAR, or send them through \"wiretape record\"")
        case "clientName" where names.contains("collectionName") || names.contains("collections"), "thunderclient":
            self.init("Thunder Client, which has requests without answers", "send them through \"wiretape record\"")
        case "constants" where !names.contains("log"), "events" where names.contains("constants"):
            self.init("Chrome's network log, which lacks bodies", "in the browser, save a HAR with content")
        case "environments" where names.contains("routes") || names.contains("uuid"), "routes" where names.contains("uuid"):
            self.init("Mockoon", "start it, and record it with \"wiretape record\"")
        case "imposters",
            "stubs" where names.contains("port"):
            self.init("mountebank", "start it, and record it with \"wiretape record\"")
        case "_postman_variable_scope":
            self.init(
                "Postman, with the variables of an environment and no requests",
                "export the collection, and give it the variables with --placeholder NAME=VALUE")
        case "interactions" where names.contains("consumer") && names.contains("provider"):
            self.init("Pact, which has examples of a contract", "start its stub server, and record it with \"wiretape record\"")
        case "res" where names.contains("req"): self.init("Talkback", "start it, and record it with \"wiretape record\"")
        case "lighthouseVersion": self.init("Lighthouse, which lacks bodies", "in the browser, save a HAR with content")
        default: return nil
        }
    }

    /// Recognised by the value of a member of the outermost object.
    init?(_ value: SourceValue, named name: String, _ names: [String]) {
        switch name {
        case "client" where value.string == "Thunder Client":
            self.init("Thunder Client, which has requests without answers", "send them through \"wiretape record\"")
        case "requests" where value.list?.first?["responseDefinition"] != nil:
            self.init(
                "WireMock's journal of requests, which lacks bodies of answers",
                "import its stubs (\"mappings\"), or start it, and record it with \"wiretape record\"")
        case "requests" where names.contains("folders"):
            self.init("Hoppscotch, which has requests without answers", "send them through \"wiretape record\"")
        case "requests" where names.contains("id") && names.contains("name"):
            self.init("Postman, in format 1", "in Postman, export the collection in format 2.1, with saved answers")
        default: return nil
        }
    }

    /// Recognised by the first element of a list.
    init?(_ element: SourceValue) {
        if element["folders"] != nil, element["requests"] != nil {
            self.init("Hoppscotch, which has requests without answers", "send them through \"wiretape record\"")
        } else if element["request"] != nil, element["response"]?["status_code"] != nil {
            self.init("ExVCR", "run the tests once more through \"wiretape record\"")
        } else if element["request"] != nil, element["response"]?["status"]?["code"] != nil {
            self.init("PHP-VCR", "run the tests once more through \"wiretape record\"")
        } else if element["httpRequest"] != nil, element.first("httpResponse", "httpForward", "id") != nil {
            self.init("MockServer", "start it, and record it with \"wiretape record\"")
        } else if element["traceEvents"] != nil || element["ph"] != nil && element["ts"] != nil {
            self.init("a browser's performance trace, which lacks bodies", "in the browser, save a HAR with content")
        } else {
            return nil
        }
    }

    func error(_ path: String) -> CassetteError {
        CassetteError(.damaged, "\"\(path)\" is from \(self.name), and cannot be imported: \(self.way).")
    }
}
