@testable import CassetteFormat
@testable import CassetteModel
@testable import CassettePlayback
@testable import TapeBytes
import TapeTestSupport
import Testing

struct GRPCFacetsTests {
    private static let proto = ["Content-Type: application/grpc", "grpc-encoding: gzip"]

    private static func frame(_ payload: [UInt8], isCompressed: Bool = false) -> [UInt8] {
        [isCompressed ? 1 : 0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: payload.count >> $0) } + payload
    }

    private static func body(_ messages: [ProtoField]...) -> [UInt8] {
        Array(messages.map { Self.frame(ProtoMessage(fields: $0).bytes) }.joined())
    }

    private static func text(_ number: Int, _ text: String) -> ProtoField { ProtoField(number, .text(Array(text.utf8))) }

    private func differences(_ live: [UInt8], _ recorded: [UInt8], _ rules: MatchRules = .standard) -> [String] {
        let url = "http://a.test/pets.v1.Pets/Get"
        return MatchFixture.live(live, Self.proto, rules, url: url)
            .differences(fromRecorded: MatchFixture.live(recorded, Self.proto, rules, url: url)).map(\.description)
    }

    @Test func messagesShareTheNameOfTheirType() {
        let facets = MatchFixture.live(Self.body([], [], []), Self.proto, .standard, url: "http://a.test/pets.v1.Pets/Get").facets
        let places = Set(facets.map { facet in facet.type.withUnsafeBytes { $0.baseAddress } })
        #expect(facets.count == 3 && places.count == 1)
    }

    @Test func fieldsComeInAnyOrderAndThoseOfOneNumberInTheirs() {
        let (a, b, c) = (Self.text(1, "a"), Self.text(2, "b"), Self.text(2, "c"))
        #expect(self.differences(Self.body([b, a, c]), Self.body([a, b, c])) == [])
        #expect(self.differences(Self.body([c, b]), Self.body([b, c])).count == 2)
        #expect(self.differences(Self.body([a], [b]), Self.body([b], [a])) != [])
    }

    @Test func aDifferenceNamesMessageAndField() {
        let inner = { ProtoField(1, .message(ProtoMessage(fields: [Self.text(2, $0), ProtoField(3, .varint(7))]))) }
        #expect(
            self.differences(Self.body([], [inner("Max")]), Self.body([], [inner("Rex")]))
                == [#"field "/1/2" of gRPC message 2 is "Max", recorded is "Rex""#])
        #expect(
            self.differences(Self.body([ProtoField(4, .bytes([1, 255]))]), Self.body([]))
                == [#"field "/4" of gRPC message 1, which is 2 bytes 0x01ff, was not recorded"#])
        #expect(self.differences(Self.body([]), Self.body([], [])) == ["gRPC message 2, recorded as a message, is missing"])
    }

    @Test func compressedMessagesAreComparedByTheirContent() {
        let plain = ProtoMessage(fields: [Self.text(1, String(repeating: "a", count: 99))]).bytes
        let packed = [1, 9].map { CodingFixtures.deflated(plain, DeflateParameters(level: $0), .gzip) }
        #expect(self.differences(Self.frame(packed[0], isCompressed: true), Self.frame(plain)) == [])
        #expect(self.differences(Self.frame(packed[0], isCompressed: true), Self.frame(packed[1], isCompressed: true)) == [])
        #expect(self.differences(Self.frame([1, 2], isCompressed: true), Self.frame([1, 3], isCompressed: true)).count == 1)
    }

    @Test func ignoredFieldsAndPatternsAreNamedByNumberOrName() throws {
        let inner = { (id: String, name: String) in
            Self.body([ProtoField(10, .message(ProtoMessage(fields: [Self.text(11, id), Self.text(1, name)])))])
        }
        for rule in ["grpc:/10/11", "grpc:/10:parent/11:password", "grpc:/*/11", "grpc:/10/*"] {
            #expect(self.differences(inner("1", "a"), inner("2", "a"), try MatchFixture.rules(ignore: [rule])) == [], "\(rule)")
        }
        #expect(self.differences(inner("1", "a"), inner("2", "b"), try MatchFixture.rules(ignore: ["grpc:/10/11"])).count == 1)
        #expect(self.differences(inner("1", "a"), inner("22", "a"), try MatchFixture.rules(patterns: ["grpc:/10/11=[0-9]+"])) == [])
        #expect(self.differences(inner("1", "a"), inner("x", "a"), try MatchFixture.rules(patterns: ["grpc:/10/11=[0-9]+"])).count == 1)
        // A name requires a schema.
        var rules = try MatchFixture.rules(ignore: ["grpc:/parent/password"])
        #expect(self.differences(inner("1", "a"), inner("2", "a"), rules).count == 1)
        rules.schema = try ProtoSchema(files: [SampleSchema.bytes])
        #expect(self.differences(inner("1", "a"), inner("2", "a"), rules) == [])
        #expect(
            self.differences(inner("1", "a"), inner("1", "b"), rules)
                == [#"field "/10:parent/1:name" of gRPC message 1 is "a", recorded is "b""#])
        #expect(throws: MatchRuleError.self) { try MatchFixture.rules(ignore: ["grpc:name"]) }
        #expect(throws: MatchRuleError.self) { try MatchFixture.rules(ignore: ["grpc:/"]).patterns }
    }

    @Test func aSchemaKnowsMapsAndPackedNumbers() throws {
        var rules = MatchRules.standard
        rules.schema = try ProtoSchema(files: [SampleSchema.bytes])
        let entry = { (key: String) in
            ProtoField(8, .message(ProtoMessage(fields: [Self.text(1, key), ProtoField(2, .varint(UInt64(key.utf8.count)))])))
        }
        let (one, other) = (Self.body([entry("a"), entry("bb")]), Self.body([entry("bb"), entry("a")]))
        #expect(self.differences(one, other, rules) == [])
        #expect(self.differences(one, other) != [])
        let packed = Self.body([ProtoField(7, .packed([.varint(1), .varint(2)]))])
        let loose = Self.body([ProtoField(7, .varint(1)), ProtoField(7, .varint(2))])
        #expect(self.differences(packed, loose, rules) == [])
        #expect(self.differences(packed, loose) != [])
    }

    @Test func jsonMessagesAndOthersHaveTheirOwnForms() {
        let headers = ["Content-Type: application/grpc+json"]
        let body = { MatchFixture.live(Self.frame(Array(($0 as String).utf8)), headers) }
        #expect(body(#"{"a":1,"b":2.0}"#) == body(#"{ "b": 2, "a": 1 }"#))
        #expect(body(#"{"a":1}"#).differences(fromRecorded: body(#"{"a":2}"#)).map(\.description) == [#"JSON "/a" is 1, recorded is 2"#])
        #expect(MatchFixture.live([1, 2, 3], headers).kind == .bytes)
    }

    @Test func aRecordedBodyIsEqualToTheLiveOneItWas() throws {
        let fixture = try RecordedFixture()
        let plain = ProtoMessage(fields: [Self.text(1, String(repeating: "a", count: 99))]).bytes
        let wire =
            Self.body([Self.text(1, "a")], [])
            + Self.frame(CodingFixtures.deflated(plain, DeflateParameters(level: 6), .gzip), isCompressed: true)
            + Self.frame([0x0A, 0x80, 0x80, 0x08] + Array(repeating: 0x61, count: 131_072))
        let recorded = try fixture.facets(wire, Self.proto)
        #expect(recorded == MatchFixture.live(wire, Self.proto))
        #expect(recorded.kind == .grpc)
    }

    @Test func oneMessageIsComparedWithOne() throws {
        let comparison = GRPCMessageComparison(
            rules: try MatchFixture.rules(ignore: ["grpc:/2"]), headers: HeaderFields(Self.proto), url: "http://a.test/a.B/C")
        let recorded = GRPCMessage(content: .proto(ProtoMessage(fields: [Self.text(1, "{{token:1}}"), Self.text(2, "x")])))
        let live = ProtoMessage(fields: [Self.text(2, "y"), Self.text(1, "anything")]).bytes
        let facets = comparison.facets(of: recorded, at: 4)
        #expect(comparison.differences(recorded: facets, live: comparison.facets(of: live, isCompressed: false, at: 4)) == [])
        let packed = CodingFixtures.deflated(live, DeflateParameters(level: 6), .gzip)
        #expect(comparison.differences(recorded: facets, live: comparison.facets(of: packed, isCompressed: true, at: 4)) == [])
        let other = GRPCMessage(content: .proto(ProtoMessage(fields: [Self.text(3, "y")])))
        #expect(comparison.differences(recorded: recorded, live: other, at: 4).count == 2)
        #expect(
            GRPCMessageComparison(rules: try MatchFixture.rules(ignore: ["body"]), headers: HeaderFields(Self.proto), url: "http://a/")
                .differences(recorded: recorded, live: other, at: 0) == [])
    }
}
