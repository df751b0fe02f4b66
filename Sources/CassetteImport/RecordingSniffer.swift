internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Detects from its content which tool made a recording.
enum RecordingSniffer {
    static func kind(of path: String, isFolder: Bool, _ context: ImportContext) throws(CassetteError) -> ImportKind {
        guard !isFolder else {
            guard (try? OpenFolder("\(path)/mappings", followsLinks: false)) != nil else {
                throw self.unknown(path, "it is a folder without \"mappings\"")
            }
            return .wiremock
        }
        // Checked first, because the other checks skip the mark of a pcapng file as white space.
        if let other = OtherTool(capture: try SourceInput.open(path).read(4)) { throw other.error(path) }
        let beginning = try self.beginning(of: path)
        if beginning.starts(with: [0xFF, 0xFE]) || beginning.starts(with: [0xFE, 0xFF]) {
            throw CassetteError(.damaged, "\"\(path)\" is in UTF-16: save it as UTF-8.")
        }
        guard let first = beginning.first else { throw CassetteError(.damaged, "\"\(path)\" is empty: name another file.") }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            // JSON5 would be damaged JSON.
            if let other = OtherTool(beginning: beginning) { throw other.error(path) }
            return try self.kind(of: JSONStream(SourceInput.open(path), context), path)
        }
        // A length, a colon, and a dictionary's first key.
        let digits = beginning.prefix { $0 >= 48 && $0 <= 57 }
        if !digits.isEmpty, beginning.dropFirst(digits.count).first == UInt8(ascii: ":"),
            beginning.dropFirst(digits.count + 1).first.map({ $0 >= 48 && $0 <= 57 }) == true
        {
            return .mitmproxy
        }
        if beginning.starts(with: "httprr trace v1".utf8) { return .httprr }
        if beginning.starts(with: "WARC/".utf8) { return .warc }
        if WireMessages.isStartLine(beginning) { return .raw }
        if BurpReader.isBeginning(beginning) { return .burp }
        if let other = OtherTool(beginning: beginning) ?? OtherTool(requests: path) { throw other.error(path) }
        guard !beginning.contains(0) else { throw self.unknown(path, "it does not begin like a recording") }
        return try self.kind(of: YAMLStream(SourceInput.open(path), context), path)
    }

    static func isZip(_ path: String) throws(CassetteError) -> Bool {
        try SourceFile(path).read(4) == [0x50, 0x4B, 0x03, 0x04]
    }

    static func isZipInGzip(_ path: String) throws(CassetteError) -> Bool {
        guard try SourceFile(path).read(2) == [0x1F, 0x8B] else { return false }
        // Damaged data is reported by the reader of the format.
        return (try? SourceInput.open(path).read(4)) == [0x50, 0x4B, 0x03, 0x04]
    }

    /// Throws if a file is compressed or packed in a way that an import does not undo.
    static func checkPacking(of path: String) throws(CassetteError) {
        let kinds: [(mark: [UInt8], name: String, command: String)] = [
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "xz", "xz -d"), (Array("BZh".utf8), "bzip2", "bunzip2"),
            ([0x28, 0xB5, 0x2F, 0xFD], "zstd", "zstd -d"), ([0x04, 0x22, 0x4D, 0x18], "lz4", "lz4 -d"),
            (Array("LZIP".utf8), "lzip", "lzip -d"),
            ([0x1F, 0x9D], "compress", "uncompress"), ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "7-Zip", "7z x"),
            (Array("Rar!".utf8), "RAR", "unrar"),
        ]
        func check(_ beginning: [UInt8], _ how: String) throws(CassetteError) {
            // Each of these begins with four such bytes, or is followed by a digit.
            for kind in kinds where beginning.starts(with: kind.mark) {
                if kind.name == "bzip2", beginning.count < 4 || !(49...57).contains(beginning[3]) { continue }
                throw CassetteError(
                    .damaged,
                    "\"\(path)\" is compressed with \(kind.name)\(how): decompress it with \"\(kind.command)\", and import its output.")
            }
        }
        let first = try SourceFile(path).read(4096)
        try check(first, "")
        // Brotli has no mark.
        if path.lowercased().hasSuffix(".br"), !UTF8Validator.isValid(first) {
            throw CassetteError(.damaged, "\"\(path)\" is compressed with Brotli: decompress it with \"brotli -d\", and import its output.")
        }
        // Damaged data is reported by the reader of the format.
        guard let plain = try? SourceInput.open(path).read(4096) else { return }
        if plain.dropFirst(257).starts(with: "ustar".utf8) {
            throw CassetteError(.damaged, "\"\(path)\" is a tar archive: unpack it with \"tar -xf\", and import the files in it.")
        }
        guard first.starts(with: [0x1F, 0x8B]) else { return }
        if plain.starts(with: [0x1F, 0x8B]) {
            throw CassetteError(
                .damaged, "\"\(path)\" is compressed twice with gzip: decompress it with \"gunzip\", and import its output.")
        }
        try check(plain, " and gzip")
    }

    static func isJSON(_ path: String) throws(CassetteError) -> Bool {
        let first = try self.beginning(of: path).first
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// The first bytes, decompressed, without leading white space and byte order mark.
    private static func beginning(of path: String) throws(CassetteError) -> ArraySlice<UInt8> {
        var beginning = try SourceInput.open(path).read(4096)[...]
        if beginning.starts(with: [0xEF, 0xBB, 0xBF]) { beginning = beginning.dropFirst(3) }
        return beginning.drop { $0 == 32 || $0 == 9 || $0 == 10 || $0 == 13 }
    }

    private static func kind(of stream: some ValueStream, _ path: String) throws(CassetteError) -> ImportKind {
        guard try stream.enterMembers() else {
            if try stream.enterList(), try stream.nextElement() {
                let element = try stream.value()
                if let kind = self.kind(ofInteraction: element) { return kind }
                if NockReader.isEntry(element) { return .nock }
                if CharlesReader.isEntry(element) { return .charles }
                if let other = OtherTool(element) { throw other.error(path) }
            }
            throw self.unknown(path, "it is neither an object nor a list of interactions")
        }
        var names: [String] = []
        var empty: ImportKind?
        while let name = try stream.nextName() {
            if names.count < 8 || name == "request" || name == "response" { names.append(name) }
            switch name {
            case "log": return try self.kind(ofLog: stream)
            case "info", "item", "collection":
                let value = try stream.value()
                if PostmanReader.isCollection(value, named: name) { return .postman }
            case "wiretape": throw CassetteError(.damaged, "\"\(path)\" is already a cassette: use it as it is.")
            case "Entries": return .testProxy
            case "mappings": return .wiremock
            case "data":
                guard try stream.enterMembers() else {
                    try stream.skip()
                    continue
                }
                guard try stream.nextName() == nil else { return .hoverfly }
            case "http_interactions":
                // Betamax writes its name after them, if at all.
                try stream.skip()
                while let name = try stream.nextName() {
                    let value = try stream.value()
                    if name == "recorded_with" { return value.string?.hasPrefix("betamax") == true ? .betamax : .vcr }
                }
                return .vcr
            case "grpc_interactions", "ws_interactions": return .cassetter
            case "requests", "client":
                if let other = OtherTool(try stream.value(), named: name, names) { throw other.error(path) }
            case "interactions":
                if let other = OtherTool(member: name, names) { throw other.error(path) }
                guard try stream.enterList() else {
                    throw self.unknown(path, "its interactions are \(try stream.value().kind)")
                }
                guard try stream.nextElement() else {
                    empty = .vcrpy
                    continue
                }
                if let kind = try self.kind(ofInteraction: stream.value()) { return kind }
                throw self.unknown(path, "its interactions are not from a tool that is known here")
            case "response" where names.contains("request"), "request" where names.contains("response"): return .wiremock
            default:
                if let other = OtherTool(member: name, names) { throw other.error(path) }
                try stream.skip()
            }
        }
        if let empty { return empty }
        if names.contains("info"), names.contains("item") { return .postman }
        throw self.unknown(path, "its members are \(names.prefix(8).map { "\"\($0)\"" }.joined(separator: ", "))")
    }

    /// Polly's archives name their recorder before the entries.
    private static func kind(ofLog stream: some ValueStream) throws(CassetteError) -> ImportKind {
        guard try stream.enterMembers() else { return .har }
        while let name = try stream.nextName() {
            switch name {
            case "entries": return .har
            case "_recordingName": return .polly
            case "creator": if try stream.value()["name"]?.string?.hasPrefix("Polly") == true { return .polly }
            default: try stream.skip()
            }
        }
        return .har
    }

    /// The tools of the VCR family write the same data under different names.
    private static func kind(ofInteraction value: SourceValue) -> ImportKind? {
        guard let request = value["request"], let response = value["response"] else { return nil }
        if request["body"]?["type"] != nil, response["status"]?.members == nil { return .cassetter }
        if request["url"] != nil, response["code"] != nil { return .goVCR }
        return request["uri"] != nil || request["host"] != nil ? .vcrpy : nil
    }

    private static func unknown(_ path: String, _ reason: String) -> CassetteError {
        let kinds = ImportKind.allCases.map(\.rawValue).joined(separator: ", ")
        return CassetteError(
            .damaged, "\"\(path)\" is not a recording that is known here (\(reason)): if it is one, name its kind with --from (\(kinds)).")
    }
}
