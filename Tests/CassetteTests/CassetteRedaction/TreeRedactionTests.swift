import TapeBytes
import TapeTestSupport
import Testing

@testable import CassetteModel
@testable import CassetteRedaction

/// Values of binary formats: names and shapes find the secrets, and the result is valid in its format.
@Suite struct TreeRedactionTests {
    /// A value that all formats have, written by the writers of these tests.
    indirect enum Value {
        case text(String)
        case number(Int)
        case list([Value])
        case map([(String, Value)])
        case yes
    }

    private static let secret = "h7nter2Xq"
    private static let login = Value.map([
        ("user", .text("ada")), ("password", .text(Self.secret)), ("pin", .number(7)), ("api_key", .number(123_456_789)),
        (
            "nested",
            .map([
                ("token", .text("tok-" + Self.secret)), ("ok", .yes),
                ("list", .list([.text("a"), .map([("secret", .text(Self.secret))])])),
            ])
        ),
        ("passwords", .map([("db", .text(Self.secret))])), ("json", .text("{\"password\":\"\(Self.secret)\"}")), ("tokens", .number(512)),
        ("long", .text(String(repeating: "x", count: 300))),
    ])
    private static let redacted = Value.map([
        ("user", .text("ada")), ("password", .text("{{password:1}}")), ("pin", .number(7)), ("api_key", .number(0)),
        (
            "nested",
            .map([
                ("token", .text("{{token:1}}")), ("ok", .yes), ("list", .list([.text("a"), .map([("secret", .text("{{password:1}}"))])])),
            ])
        ),
        ("passwords", .map([("db", .text("{{password:1}}"))])), ("json", .text(#"{"password":"{{password:1}}"}"#)),
        ("tokens", .number(512)),
        ("long", .text(String(repeating: "x", count: 300))),
    ])
    private static let schema = Value.map([
        ("password", .map([("type", .text("string"))])), ("tokens", .list([.text("the"), .text("cat")])), ("name", .text("password")),
        ("usage", .map([("tokens", .number(5120))])),
    ])

    // MARK: Writers

    static func big(_ number: Int, _ size: Int) -> [UInt8] { (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
    static func little(_ number: Int, _ size: Int) -> [UInt8] { Self.big(number, size).reversed() }

    static func messagePack(_ value: Value) -> [UInt8] {
        switch value {
        case .text(let text):
            let bytes = Array(text.utf8)
            return
                (bytes.count < 32
                ? [0xA0 | UInt8(bytes.count)] : bytes.count < 256 ? [0xD9, UInt8(bytes.count)] : [0xDA] + Self.big(bytes.count, 2)) + bytes
        case .number(let number): return number < 128 ? [UInt8(number)] : [0xCE] + Self.big(number, 4)
        case .list(let values): return [0x90 | UInt8(values.count)] + values.flatMap(Self.messagePack)
        case .map(let members):
            return [0x80 | UInt8(members.count)] + members.flatMap { Self.messagePack(.text($0.0)) + Self.messagePack($0.1) }
        case .yes: return [0xC3]
        }
    }

    static func cbor(_ value: Value) -> [UInt8] {
        func head(_ major: UInt8, _ count: Int) -> [UInt8] {
            count < 24
                ? [major << 5 | UInt8(count)]
                : count < 256
                    ? [major << 5 | 24, UInt8(count)]
                    : count < 65_536 ? [major << 5 | 25] + Self.big(count, 2) : [major << 5 | 26] + Self.big(count, 4)
        }
        switch value {
        case .text(let text): return head(3, text.utf8.count) + Array(text.utf8)
        case .number(let number): return head(0, number)
        case .list(let values): return head(4, values.count) + values.flatMap(Self.cbor)
        case .map(let members): return head(5, members.count) + members.flatMap { Self.cbor(.text($0.0)) + Self.cbor($0.1) }
        case .yes: return [0xF5]
        }
    }

    static func bson(_ value: Value) -> [UInt8] {
        func element(_ name: String, _ value: Value) -> [UInt8] {
            let (kind, bytes): (UInt8, [UInt8]) =
                switch value {
                case .text(let text): (2, Self.little(text.utf8.count + 1, 4) + Array(text.utf8) + [0])
                case .number(let number): (0x10, Self.little(number, 4))
                case .list(let values): (4, Self.bson(.map(values.enumerated().map { ("\($0.offset)", $0.element) })))
                case .map: (3, Self.bson(value))
                case .yes: (8, [1])
                }
            return [kind] + Array(name.utf8) + [0] + bytes
        }
        guard case .map(let members) = value else { return [] }
        let elements = members.flatMap { element($0.0, $0.1) }
        return Self.little(elements.count + 5, 4) + elements + [0]
    }

    /// Writes each string once, like Apple's writer.
    static func propertyList(_ value: Value) -> [UInt8] {
        var objects: [[UInt8]] = []
        var strings: [String: Int] = [:]
        func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
            count < 15
                ? [kind << 4 | UInt8(count)]
                : count < 256 ? [kind << 4 | 15, 0x10, UInt8(count)] : [kind << 4 | 15, 0x11] + Self.big(count, 2)
        }
        func add(_ value: Value) -> Int {
            switch value {
            case .text(let text):
                if let known = strings[text] { return known }
                objects.append(head(5, text.utf8.count) + Array(text.utf8))
                strings[text] = objects.count - 1
            case .number(let number): objects.append([0x12] + Self.big(number, 4))
            case .list(let values):
                let place = objects.count
                objects.append([])
                let numbers = values.map(add)
                objects[place] = head(10, values.count) + numbers.map { UInt8($0) }
                return place
            case .map(let members):
                let place = objects.count
                objects.append([])
                let numbers = members.map { add(.text($0.0)) } + members.map { add($0.1) }
                objects[place] = head(13, members.count) + numbers.map { UInt8($0) }
                return place
            case .yes: objects.append([9])
            }
            return objects.count - 1
        }
        let top = add(value)
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        let size = table < 256 ? 1 : 2
        bytes += offsets.flatMap { Self.big($0, size) }
        return bytes + [0, 0, 0, 0, 0, 0, UInt8(size), 1] + Self.big(objects.count, 8) + Self.big(top, 8) + Self.big(table, 8)
    }

    private func check(_ make: (Value) -> [UInt8], _ types: [String], _ location: SourceLocation = #_sourceLocation) {
        for type in types {
            let lines = ["Content-Type: \(type)"]
            let redacted = RedactionFixtures.bytes(make(Self.login), lines)
            #expect(
                redacted == make(Self.redacted), "\(String(decoding: redacted, as: UTF8.self).debugDescription)", sourceLocation: location)
            #expect(RedactionFixtures.bytes(redacted, lines) == redacted, sourceLocation: location)
            #expect(RedactionFixtures.bytes(make(Self.schema), lines) == make(Self.schema), sourceLocation: location)
        }
    }

    @Test func messagePackStaysMessagePack() {
        self.check(
            Self.messagePack, ["application/msgpack", "application/x-msgpack", "application/vnd.msgpack", "application/octet-stream"])
    }

    @Test func cborStaysCBOR() {
        self.check(Self.cbor, ["application/cbor", "application/senml+cbor", "application/octet-stream"])
    }

    @Test func bsonStaysBSON() {
        self.check(Self.bson, ["application/bson", "application/octet-stream"])
    }

    @Test func aStringOfSeveralChunksIsOne() {
        let text: [UInt8] =
            [0xBF, 0x68] + Array("password".utf8) + [0x7F, 0x62] + Array("h7".utf8) + [0x67] + Array("nter2Xq".utf8) + [0xFF, 0xFF]
        let redacted = RedactionFixtures.bytes(text, ["Content-Type: application/cbor"])
        #expect(redacted == [0xBF, 0x68] + Array("password".utf8) + [0x6E] + Array("{{password:1}}".utf8) + [0xFF])
    }

    /// The writer of these tests stores each string once, so every value gets the same placeholder.
    @Test(arguments: ["application/x-plist", "application/octet-stream", "application/x-apple-binary-plist"])
    func aPropertyListStaysOne(type: String) {
        let login = Value.map([
            ("user", .text("ada")), ("password", .text(Self.secret)), ("nested", .map([("token", .text("tok-" + Self.secret))])),
            ("n", .number(70_000)), ("api_key", .number(123_456_789)), ("long", .text(String(repeating: "x", count: 236))),
        ])
        let expected = Value.map([
            ("user", .text("ada")), ("password", .text("{{password:1}}")), ("nested", .map([("token", .text("{{token:1}}"))])),
            ("n", .number(70_000)), ("api_key", .number(0)), ("long", .text(String(repeating: "x", count: 236))),
        ])
        let redacted = RedactionFixtures.bytes(Self.propertyList(login), ["Content-Type: \(type)"])
        #expect(redacted == Self.propertyList(expected))
        #expect(RedactionFixtures.bytes(redacted, ["Content-Type: \(type)"]) == redacted)
        #expect(RedactionFixtures.bytes(Self.propertyList(Self.schema), ["Content-Type: \(type)"]) == Self.propertyList(Self.schema))
    }

    /// Bytes of each format with some changed or missing: no reader trusts a length.
    @Test(arguments: 0..<8)
    func brokenBytesEndNothing(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let all = [Self.messagePack, Self.cbor, Self.bson, Self.propertyList].map { $0(Self.login) }
        let types = ["application/msgpack", "application/cbor", "application/bson", "application/x-plist"]
        for _ in 0..<300 {
            let index = Int.random(in: 0..<4, using: &random)
            var bytes = all[index]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random)) }
            let once = RedactionFixtures.bytes(bytes, ["Content-Type: \(types[index])"])
            #expect(!once.isEmpty)
        }
    }
}
