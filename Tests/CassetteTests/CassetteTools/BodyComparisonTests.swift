@testable import CassetteModel
@testable import CassetteStore
@testable import CassetteTools
@testable import TapeBytes
import Testing

@Suite struct BodyComparisonTests {
    private let folder: CareFolder

    init() throws { self.folder = try CareFolder() }

    private func changes(_ old: Body?, _ new: Body?, showsAll: Bool = false) throws -> [FieldChange] {
        try BodyComparison(
            old: BodyReader(cassettePath: self.folder.file("a.json")), new: BodyReader(cassettePath: self.folder.file("b.json")),
            digest: { PortableSHA256() }, showsAll: showsAll
        ).changes(old, new)
    }

    private func multipart(_ parts: [(name: String, content: PartContent)], boundary: String) throws -> Body {
        let body = MultipartBody<PartContent>(
            boundary: try #require(MultipartBoundary(Array(boundary.utf8))),
            parts: parts.enumerated().map { index, part in
                MultipartPart(
                    delimiter: MultipartBody<PartContent>.usualDelimiter(isFirst: index == 0),
                    headers: PartHeaderSection(lines: [Array("Content-Disposition: form-data; name=\"\(part.name)\"".utf8)]),
                    content: .data(part.content))
            })
        return Body(size: body.size, content: .multipart(body))
    }

    @Test func messagesAreComparedOneByOne() throws {
        func body(_ messages: GRPCMessage..., rest: [UInt8] = []) -> Body {
            Body(size: 0, content: .grpc(GRPCMessages(messages: messages, rest: rest)))
        }
        let json = { (text: String) in GRPCMessage(content: .json(Array(text.utf8), style: .compact)) }
        #expect(
            try self.changes(
                body(.fields(.text(1, "a")), .fields(.text(1, "b")), json(#"{"n":1}"#)),
                body(.fields(.text(1, "a")), .fields(.text(1, "c")), json(#"{"n":2}"#), .fields(.text(1, "d")))) == [
                    FieldChange("message 2 grpc:/1", "\"b\"", "\"c\""), FieldChange("message 3 json:/n", "1", "2"),
                    FieldChange("message 4", nil, "3 bytes"),
                ])
        #expect(
            try self.changes(body(), body(rest: [0, 0])) == [FieldChange("rest", nil, "2 bytes of a cut message")])
        #expect(try self.changes(body(.fields(.text(1, "a"))), body(.fields(.text(1, "a"), after: 1))) == [])
        #expect(
            try self.changes(body(.fields(.text(1, "a"))), body(.fields(.text(1, "a"), after: 1)), showsAll: true)
                == [FieldChange("message 1 after", "the client's end", "1")])
    }

    @Test func aCodingOfAMessageIsNoChange() throws {
        let tree = ProtoMessage(fields: [.text(1, "Rex")])
        let coded = GRPCMessage(isCompressed: true, content: .proto(tree), coding: .gzip(nil, header: .plain))
        #expect(
            try self.changes(
                Body(size: 0, content: .grpc(GRPCMessages(messages: [coded]))),
                Body(size: 0, content: .grpc(GRPCMessages(messages: [GRPCMessage(content: .proto(tree))])))) == [])
    }

    /// Each kind as a replay compares it: a spelling that does not count, and a change with its place.
    @Test(
        arguments: [
            (
                "application/msgpack", [0x82, 0xA1, 0x61, 1, 0xA1, 0x62, 2], [0x82, 0xA1, 0x62, 0xCC, 2, 0xA1, 0x61, 1],
                [0x82, 0xA1, 0x61, 1, 0xA1, 0x62, 3], "json:/b"
            ),
            (
                "application/cbor", [0xA2, 0x61, 0x61, 1, 0x61, 0x62, 2], [0xA2, 0x61, 0x62, 0x18, 2, 0x61, 0x61, 1],
                [0xA2, 0x61, 0x61, 1, 0x61, 0x62, 3], "json:/b"
            ),
            (
                "application/x-ndjson", Array("{\"a\":1}\n{\"b\":2}\n".utf8), Array("{ \"a\": 1 }\r\n{\"b\":2}\r\n".utf8),
                Array("{\"a\":1}\n{\"b\":3}\n".utf8), "json:/1/b"
            ),
            (
                "application/http", Array("GET /x HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{\"a\":1,\"b\":2}".utf8),
                Array("GET /x HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{\"b\":2, \"a\":1}".utf8),
                Array("GET /x HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{\"a\":1,\"b\":3}".utf8), "json:/b"
            ),
        ] as [(String, [UInt8], [UInt8], [UInt8], String)])
    func bodiesAreComparedByTheKindsOfAReplay(_ type: String, _ old: [UInt8], _ same: [UInt8], _ changed: [UInt8], _ place: String) throws {
        let comparison = BodyComparison(
            old: BodyReader(cassettePath: self.folder.file("a.json")), new: BodyReader(cassettePath: self.folder.file("b.json")),
            digest: { PortableSHA256() })
        let fields = HeaderFields(["Content-Type: \(type)"])
        func changes(_ new: [UInt8]) throws -> [FieldChange] {
            try comparison.changes(
                Body(size: old.count, content: .binary(old)), Body(size: new.count, content: .binary(new)), fields: (fields, fields))
        }
        #expect(try changes(same) == [])
        #expect(try changes(changed) == [FieldChange(place, "2", "3")])
        // As bytes, if everything is shown.
        #expect(
            try self.changes(Body(size: 0, content: .binary(old)), Body(size: 0, content: .binary(changed)), showsAll: true)[0].place
                == "body")
    }

    @Test func chunksOfAWSAreNoChange() throws {
        let comparison = BodyComparison(
            old: BodyReader(cassettePath: self.folder.file("a.json")), new: BodyReader(cassettePath: self.folder.file("b.json")),
            digest: { PortableSHA256() })
        let fields = HeaderFields(["Content-Encoding: aws-chunked", "Content-Type: text/plain"])
        func changes(_ new: String) throws -> [FieldChange] {
            let old = "3;chunk-signature=a\r\nabc\r\n0;chunk-signature=b\r\n\r\n"
            return try comparison.changes(
                Body(size: 0, content: .text(Array(old.utf8))), Body(size: 0, content: .text(Array(new.utf8))), fields: (fields, fields))
        }
        #expect(try changes("1;chunk-signature=c\r\na\r\n2;chunk-signature=d\r\nbc\r\n0;chunk-signature=e\r\n\r\n") == [])
        #expect(try changes("3;chunk-signature=a\r\nabd\r\n0;chunk-signature=b\r\n\r\n").map(\.place) == ["body"])
    }

    @Test func jsonInAFieldOrAPartHasItsOwnPlace() throws {
        func form(_ value: String) -> Body {
            Body(size: 0, content: .form(FormText(fields: [.init(name: "d", value: value), .init(name: "e", value: "1")])))
        }
        let comparison = BodyComparison(
            old: BodyReader(cassettePath: self.folder.file("a.json")), new: BodyReader(cassettePath: self.folder.file("b.json")),
            digest: { PortableSHA256() })
        let fields = HeaderFields(["Content-Type: application/x-www-form-urlencoded"])
        #expect(
            try comparison.changes(form(#"{"a":1,"b":2}"#), form(#"{"b":3,"a":1}"#), fields: (fields, fields))
                == [FieldChange("form:d|json:/b", "2", "3")])
        #expect(try comparison.changes(form(#"{"a":1,"b":2}"#), form(#"{ "b": 2, "a":1}"#), fields: (fields, fields)) == [])
        #expect(try comparison.changes(form("x"), form("y"), fields: (fields, fields)) == [FieldChange("form:d", "x", "y")])
        func part(_ json: String) throws -> Body {
            let message = "POST /x HTTP/1.1\r\nContent-Type: application/json\r\n\r\n\(json)"
            let body = MultipartBody<PartContent>(
                boundary: try #require(MultipartBoundary(Array("b".utf8))),
                parts: [
                    MultipartPart(
                        delimiter: MultipartBody<PartContent>.usualDelimiter(isFirst: true),
                        headers: PartHeaderSection(lines: [Array("Content-Type: application/http".utf8)]),
                        content: .data(.text(Array(message.utf8))))
                ])
            return Body(size: body.size, content: .multipart(body))
        }
        #expect(try self.changes(part(#"{"a":1,"b":2}"#), part(#"{"b":2,"a":1}"#)) == [])
        #expect(try self.changes(part(#"{"a":1}"#), part(#"{"a":2}"#)) == [FieldChange("part:1 json:/a", "1", "2")])
    }

    @Test func xmlIsComparedByElements() throws {
        func body(_ text: String) -> Body { Body(size: text.utf8.count, content: .text(Array(text.utf8))) }
        #expect(try self.changes(body("<a b='1' c='2'/>"), body("<?xml version=\"1.0\"?>\n<a c=\"2\" b=\"1\"></a>")) == [])
        #expect(
            try self.changes(body("<a b='1'><c>x</c></a>"), body("<a b='2'><c>x</c><d>y</d></a>")) == [
                FieldChange("xml:/a/@b", "\"1\"", "\"2\""), FieldChange("xml:/a/d", nil, "\"y\""),
            ])
        #expect(
            try self.changes(body("<a><password>x</password></a>"), body("<a><password>y</password></a>")).map(\.new) == [
                FieldChange.hidden
            ])
        #expect(try self.changes(body("<a>"), body("<a")).map(\.place) == ["body"])
    }

    @Test func absentAndEmptyAreEqual() throws {
        #expect(try self.changes(nil, nil) == [])
        #expect(try self.changes(nil, Body(size: 0, content: .empty)) == [])
        #expect(try self.changes(.text("abc"), nil) == [FieldChange("body", "3 bytes", nil)])
        #expect(try self.changes(nil, .text("abc")) == [FieldChange("body", nil, "3 bytes")])
    }

    @Test func anotherNumberOfAPlaceholderIsNoChange() throws {
        let form = { (text: String) in
            Array(text.utf8).withUnsafeBytes { FormText($0) }.map { Body(size: text.utf8.count, content: .form($0)) }
        }
        let pairs: [(Body?, Body?)] = [
            (.text("a {{jwt:1}} b"), .text("a {{jwt:12}} b")), (.json(#"{"a":"{{v:1}}"}"#), .json(#"{"a":"{{v:2}}"}"#)),
            (form("a=%7B%7Bv:1%7D%7D"), form("a=%7B%7Bv:2%7D%7D")),
        ]
        for (old, new) in pairs {
            #expect(try self.changes(old, new) == [])
            #expect(try self.changes(old, new, showsAll: true).count == 1)
        }
        #expect(try self.changes(.json(#"{"a":"{{v:1}}x"}"#), .json(#"{"a":"{{v:2}}y"}"#)).count == 1)
        #expect(try self.changes(.text("{{jwt:1}} a"), .text("{{jwt:2}} b")).count == 1)
    }

    @Test func eachKindNamesItsPlace() throws {
        #expect(try self.changes(.json(#"{"a":1}"#), .json(#"{"a":2}"#)) == [FieldChange("json:/a", "1", "2")])
        #expect(
            try self.changes(.json(#"{"a":{"token":1}}"#), .json(#"{"a":{"token":2}}"#)) == [
                FieldChange("json:/a/token", "(hidden)", "(hidden)")
            ])
        let form = { (text: String) in
            Array(text.utf8).withUnsafeBytes { FormText($0) }.map { Body(size: text.utf8.count, content: .form($0)) }
        }
        #expect(try self.changes(form("a=1&b=2"), form("b=2&a=3")) == [FieldChange("form:a", "1", "3")])
        #expect(try self.changes(.text("one"), .text("two")) == [FieldChange("body", "byte 0: \"one\"", "\"two\"")])
        #expect(try self.changes(.text("{}"), .json("{}")) == [])
    }

    @Test func partsAreComparedByNameWithoutTheBoundary() throws {
        let old = try self.multipart(
            [("a", .text(Array("1".utf8))), ("b", .json(Array("[1]".utf8), style: .compact)), ("c", .text([]))], boundary: "x")
        let new = try self.multipart(
            [("b", .json(Array("[2]".utf8), style: .compact)), ("a", .text(Array("1".utf8))), ("d", .text([65]))], boundary: "y")
        #expect(
            try self.changes(old, new) == [
                FieldChange("part:b json:/0", "1", "2"), FieldChange("part:c", "0 bytes", nil), FieldChange("part:d", nil, "1 byte"),
            ])
        #expect(try self.changes(old, old) == [])
    }

    @Test func filesAreComparedByTheirContent() throws {
        let bytes = [UInt8](repeating: 7, count: 100_000)
        let one = Body.file(try self.folder.sidecar(bytes, of: "a.json"))
        let same = Body.file(try self.folder.sidecar(bytes, of: "b.json"))
        #expect(try self.changes(one, same) == [])
        let other = Body.file(try self.folder.sidecar(bytes.dropLast() + [8], of: "b.json"))
        #expect(try self.changes(one, other) == [FieldChange("body", "byte 99999: 0x07 (100000 bytes)", "0x08 (100000 bytes)")])
    }

    @Test func aTruncatedBodyDiffersFromACompleteOne() throws {
        var cut = Body.text("abc")
        cut.isComplete = false
        #expect(try self.changes(.text("abc"), cut) == [FieldChange("body", "complete", "cut short", drift: .type)])
    }

    /// Whatever the form in which a cassette holds it: a long text and one in an unusual style are kept as text.
    @Test(arguments: [
        (#"{ "a":1\n\n}"#, #"{ "a":"1"\n\n}"#, "json:/a", Drift.type), (#"{ "a":1,\n"b":2}"#, #"{ "a":1\n}"#, "json:/b", .removed),
        ("{\"a\":1}\n{\"b\":1}\n", "{\"a\":1}\n{\"b\":null}\n", "json:/1/b", .type),
        ("{\"a\":1}\n{\"b\":1}\n", "{\"a\":1}\n", "json:/1", .removed),
        ("data: {\"a\":1}\n\ndata: [DONE]\n\n", "data: {\"a\":\"1\"}\n\ndata: [DONE]\n\n", "json:/0/a", .type),
        ("event: x\ndata: {\"a\":1}\n\ndata: {\"b\":1}\n\n", "event: x\ndata: {\"a\":1}\n\n", "json:/1", .removed),
        (":\n\ndata: {\"a\":1}\n\n", "data: {\"a\":1}\n\ndata: {\"b\":1}\n\n", "json:/1", .added),
        ("{\"a\":1}", "", "body", .removed), ("", "{\"a\":1}", "body", .added),
    ]) func changesOfJSONInATextAreGraded(old: String, new: String, place: String, drift: Drift) throws {
        func body(_ text: String) -> Body {
            let text = text.replacing("\\n", with: "\n")
            return Body(size: text.utf8.count, content: text.isEmpty ? .empty : .text(Array(text.utf8)))
        }
        let changes = try self.changes(body(old), body(new))
        #expect(changes.map(\.place) == [place] && changes.first?.drift == drift, "\(changes)")
    }
}

@Suite struct ByteComparisonTests {
    private func difference(_ old: [UInt8], _ new: [UInt8]) throws -> ByteComparison.Difference? {
        try ByteComparison.firstDifference(ByteSource(old), ByteSource(new))
    }

    @Test func equalBytesHaveNone() throws {
        #expect(try self.difference([], []) == nil)
        #expect(try self.difference(Array("abc".utf8), Array("abc".utf8)) == nil)
    }

    @Test func textIsShownAsItsLine() throws {
        let found = try self.difference(Array("one\ntwo\r\nthree".utf8), Array("one\ntwx\r\nthree".utf8))
        #expect(found == ByteComparison.Difference(offset: 6, old: "byte 6: \"two\"", new: "\"twx\""))
        let ended = try self.difference(Array("abc".utf8), Array("ab".utf8))
        #expect(ended == ByteComparison.Difference(offset: 2, old: "byte 2: \"abc\"", new: "\"ab\""))
    }

    @Test func otherBytesAreShownInHex() throws {
        let found = try self.difference([0, 1, 0xFF], [0, 1, 0xFE, 7])
        #expect(found == ByteComparison.Difference(offset: 2, old: "byte 2: 0xff (3 bytes)", new: "0xfe (4 bytes)"))
        #expect(try self.difference([0, 1], [0])?.new == "ends (1 byte)")
    }

    @Test func aDifferenceIsFoundAfterTheFirstPiece() throws {
        let bytes = [UInt8](repeating: 0x61, count: 3 * ByteSource.pieceSize)
        for offset in [0, ByteSource.pieceSize - 1, ByteSource.pieceSize, 2 * ByteSource.pieceSize + 5] {
            var other = bytes
            other[offset] = 0x62
            #expect(try self.difference(bytes, other)?.offset == offset)
        }
    }
}
