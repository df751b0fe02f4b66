import CassetteModel
import CassettePlayback
import CassetteStore
@testable import CassetteTools
import TapeTestSupport
import TapeBytes
import Testing

@Suite struct ExchangeFilterTests {
    private func matches(_ text: String, _ interaction: Interaction) throws -> Bool {
        try ExchangeFilter(FilterParser.parse(text), reader: BodyReader(cassettePath: "/nowhere/pets.json")).matches(interaction)
    }

    private var upload: Interaction {
        var interaction = FormFixtures.upload(FormFixtures.pets)
        interaction.request.url = "http://user@origin.example:8000/pets?kind=cat"
        interaction.response?.body = Body(size: 2, content: .text(Array("ok".utf8)))
        interaction.connection = ConnectionInfo(id: 1, remote: "127.0.0.1:8000", isReused: false)
        return interaction
    }

    @Test(arguments: [
        "~m post", "~u pets", "pets", "~d origin\\.example$", "~d ^a$", "~c 201", "~t json", "~tq multipart", "~ts ^application/json$",
        "~b kind", "~bq 이름",
        "~bs ^ok$", "~h boundary", "~hq ^host:", "~hs '^content-type: application'", "~s", "~all", "~http", "~dst :8000$",
        "~m POST & ~c 201", "!~q", "~c 404 | ~c 201", "~bs ok ~bq cat",
    ])
    func holds(filter: String) throws {
        #expect(try self.matches(filter, self.upload))
    }

    @Test(arguments: [
        "~m get", "~u dogs", "~d 8000", "~d user", "~c 20", "~tq json", "~ts multipart", "~bs kind", "~bq ok", "~hq x-answer", "~hs host",
        "~q", "~e", "~a",
        "!~m POST", "~m POST & ~c 404", "~dst :9000$",
    ])
    func doesNotHold(filter: String) throws {
        #expect(try !self.matches(filter, self.upload))
    }

    @Test(arguments: [
        "~grpc 5", "~grpc not_found", "~hv 2", "~hv HTTP/2", "~hv 2 & ~m POST", "(~grpc 5)", "~t grpc !~grpc 0", "~bq Rex", "~bs Tom",
        "~u pets.v1.Pets/Get",
    ])
    func holdsOfACall(filter: String) throws {
        let call = Interaction.call([ProtoMessage(fields: [.text(1, "Rex")])], [.fields(.message(2, .text(1, "Tom")))], status: 5)
        #expect(try self.matches(filter, call))
    }

    @Test(arguments: ["~grpc 0", "~grpc OK", "~hv 1.1", "~hv 1.0", "~bs Rex", "~bq Tom"]) func doesNotHoldOfACall(filter: String) throws {
        let call = Interaction.call([ProtoMessage(fields: [.text(1, "Rex")])], [.fields(.message(2, .text(1, "Tom")))], status: 5)
        #expect(try !self.matches(filter, call))
    }

    @Test func compressedMessagesAreSearchedWithoutTheirCoding() throws {
        let tree = ProtoMessage(fields: [.text(1, String(repeating: "Rex ", count: 30))])
        let message = GRPCMessage(isCompressed: true, content: .proto(tree), coding: .gzip(DeflateParameters(level: 6), header: .plain))
        #expect(try self.matches("~bs 'Rex Rex'", .call([], [message])))
    }

    @Test func theVersionIsThatOfEitherMessage() throws {
        var interaction = self.upload
        interaction.response?.version = .http2
        #expect(try self.matches("~hv 2 ~hv 1.1", interaction))
    }

    @Test func anExchangeWithoutAResponseIsAQuery() throws {
        let failed = Interaction.sample(status: nil, outcome: .failed(Failure(kind: .refused, message: "")))
        #expect(try self.matches("~q & ~e", failed))
        #expect(try !self.matches("~s", failed))
        #expect(try !self.matches("~c 200 | ~bs x | ~hs x | ~ts x | ~a", failed))
    }

    @Test(arguments: ["image/png", "text/css", "font/woff2", "application/javascript"]) func assetsGoByType(type: String) throws {
        #expect(try self.matches("~a", .sample(type: type)))
    }

    @Test func bodiesAreLookedThroughWithoutTheirCharset() throws {
        let korean: [UInt8] = [0xC0, 0xCC, 0xB8, 0xA7]
        let interaction = Interaction.sample(type: "text/plain; charset=euc-kr", body: Body(size: 4, content: .binary(korean)))
        #expect(try self.matches("~bs 이름", interaction))
    }

    @Test(arguments: [
        ("http://a/x", "a"), ("https://u:p@a.b:1/@x", "a.b"), ("http://[::1]:80/", "::1"), ("http://a?x=/", "a"), ("a", "a"), ("", ""),
    ])
    func aHostStandsAlone(url: String, host: String) {
        #expect(FilterExpression.host(of: url) == host)
    }
}

@Suite struct FilterPatternTests {
    @Test(arguments: [
        ("pets", "http://a/PETS/1", true), ("PETS", "http://a/pets", true), ("pets", "pet", false), (#"\.png$"#, "a.PNG", true),
        (#"\.png$"#, "a.png?x", false), (#"^get|post$"#, "POST", true), (#"\d{3}"#, "a404b", true), (#"[가-힣]+"#, "이름", true),
        ("이름", "x이름y", true), ("É", "é", true), ("a.b", "a\nb", false), ("", "anything", true),
    ])
    func looksAnywhereWithoutRegardToCase(pattern: String, text: String, isFound: Bool) throws {
        #expect(try FilterPattern(pattern).matches(text) == isFound)
    }

    @Test func linesHaveTheirOwnBeginningsAndEnds() throws {
        let fields = Array("Host: a\r\nX-B: c\r\n".utf8)
        #expect(try FilterPattern("^x-b: c", .lines).matches(fields))
        #expect(try !FilterPattern("^x-b: c").matches(fields))
    }

    @Test func aDotOfABodyGoesOverLineEnds() throws {
        #expect(try FilterPattern("a.b", .body).matches("a\nb"))
    }

    @Test(arguments: ["이름", "이.", "NAM[E]"]) func textAmongOtherBytesIsFound(pattern: String) throws {
        let bytes: [UInt8] = [0xFF, 0xFE, 0x00] + Array("이름 name".utf8) + [0x80, 0xEC]
        #expect(try FilterPattern(pattern, .body).matches(bytes))
    }

    @Test(arguments: ["(", "[a", "*", "a{2,1}"]) func invalidPatternIsRefused(pattern: String) {
        #expect(throws: PatternError.self) { try FilterPattern(pattern) }
    }

    @Test func aPatternThatBacktrackingWouldNotEndIsSearchedInLinearTime() throws {
        let text = String(repeating: "a", count: 100_000)
        for pattern in ["(a+)+b", "(a|aa)+$b", "(a*)*b", "((a+)*)+b"] {
            #expect(try !FilterPattern(pattern, .body).matches(text), "\(pattern)")
        }
    }

    @Test func flagsOfOtherLanguagesAreTaken() throws {
        #expect(try FilterPattern("(?i)PETS").matches("pets") && FilterPattern("(?s)a.b").matches("a\nb"))
        #expect(try FilterPattern("(?m)^b$").matches("a\nb\r\nc") && !FilterPattern("^b$").matches("a\nb"))
    }
}
