import Foundation
import Testing
@testable import Wiretape

@Suite struct ValidationTests {
    private func code(
        _ validation: HTTPSession.Validation, _ status: Int = 200, type: String? = nil, accept: String? = nil,
        method: HTTPSession.Method = .get,
        data: Data? = Data([1])
    ) throws -> ValidationError.Code? {
        do {
            try validation.validate(
                request: SampleResponse.request(method, accept.map { ["Accept": $0] } ?? [:]),
                response: SampleResponse.response(status, type.map { ["Content-Type": $0] } ?? [:]), data: data)
            return nil
        } catch let error as ValidationError {
            return error.code
        }
    }

    @Test(arguments: [(200, true), (299, true), (300, false), (199, false), (404, false), (503, false)])
    func statuses(status: Int, isFine: Bool) throws {
        #expect(try self.code(.statusCode(200..<300), status) == (isFine ? nil : .unacceptableStatus))
        #expect(try self.code(.default, status) == (isFine ? nil : .unacceptableStatus))
    }

    @Test func aSequenceWithoutEndIsFine() throws {
        #expect(try self.code(.statusCode(200...), 404) == nil)
        #expect(try self.code(.statusCode([200, 404]), 404) == nil)
    }

    @Test(
        arguments: [
            ("application/json", "application/json; charset=utf-8", nil), ("application/json", "text/html", .unacceptableContentType),
            ("text/*", "text/html", nil), ("*/*", "a/b", nil), ("*/*", nil, nil), ("application/json", nil, .missingContentType),
            ("application/json, */*;q=0", "text/html", .unacceptableContentType), (nil, "a/b", nil), (nil, nil, nil),
            ("text/html;q=0, */*", "text/html", .unacceptableContentType),
        ] as [(String?, String?, ValidationError.Code?)])
    func theTypeIsOneThatTheRequestAccepts(accept: String?, type: String?, code: ValidationError.Code?) throws {
        #expect(try self.code(.default, type: type, accept: accept) == code)
    }

    @Test func typesOfOnesOwnTakeThePlaceOfAccept() throws {
        #expect(try self.code(.contentType(["image/*", "application/pdf"]), type: "image/png", accept: "text/html") == nil)
        #expect(try self.code(.contentType(["image/*"]), type: "text/html", accept: "text/html") == .unacceptableContentType)
    }

    @Test func aBodyThatIsNotThereHasNoType() throws {
        #expect(try self.code(.contentType(["a/b"]), type: "c/d", data: Data()) == nil)
        #expect(try self.code(.contentType(["a/b"]), type: "c/d", data: nil) == .unacceptableContentType)
        #expect(try self.code(.contentType(["a/b"]), 204, data: nil) == nil)
        #expect(try self.code(.contentType(["a/b"]), method: .head, data: nil) == nil)
    }

    @Test func theErrorNamesTheReceivedAndTheExpectedTypes() throws {
        #expect {
            try HTTPSession.Validation.default.validate(
                request: SampleResponse.request(), response: SampleResponse.response(404), data: nil)
        } throws: {
            "\($0)"
                == "the response to \"GET http://h/p?token=…\" has the status 404, expected 200 to 299: look at the body, or validate other statuses"
        }
    }

    @Test func rulesOfOnesOwnComeInOrder() throws {
        struct First: Error {}
        struct Second: Error {}
        let rule = HTTPSession.Validation { _, _, _ in throw First() }.and(HTTPSession.Validation { _, _, _ in throw Second() })
        #expect(throws: First.self) { try rule.validate(request: nil, response: SampleResponse.response(), data: nil) }
        let other = HTTPSession.Validation.default.and(HTTPSession.Validation { _, _, data in if data == nil { throw Second() } })
        #expect(throws: Second.self) { try other.validate(request: nil, response: SampleResponse.response(), data: nil) }
        try other.validate(request: nil, response: SampleResponse.response(), data: Data())
    }
}

/// RFC 9110, 12.5.1
@Suite struct AcceptedTypesTests {
    @Test(arguments: [
        ("audio/*; q=0.2, audio/basic", "audio/mpeg", true),
        ("text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c", "text/x-c", true),
        ("text/*, text/plain;q=0", "text/plain", false), ("text/*;q=0, text/plain", "text/plain", true),
        ("a/b;x=\"1,2\", c/d", "c/d", true),
        ("a/b;x=\"1,c/d\"", "c/d", false), ("a/b;x=\"\\\",c/d\"", "c/d", false), ("", "a/b", true), (", ,", "a/b", true),
        ("nonsense", "a/b", true),
        ("a/b", "nonsense", false), ("*/*", "nonsense", true), ("*/*;q=0", "a/b", false),
    ]) func fieldsAndTypes(field: String, type: String, isAccepted: Bool) {
        #expect(AcceptedTypes(field).accepts(type) == isAccepted)
    }

    @Test func anythingIsAcceptedByAStarOrByNothing() {
        #expect(AcceptedTypes("a/b, */*;q=0.1").acceptsAnything && AcceptedTypes("").acceptsAnything)
        #expect(!AcceptedTypes("*/*;q=0").acceptsAnything && !AcceptedTypes("a/*").acceptsAnything)
        #expect(AcceptedTypes("a/\"b").description == "\"a/\\\"b\"")
    }
}

@Suite struct MediaRangeTests {
    private func includes(_ range: String, _ type: String) -> Bool? {
        guard let range = MediaRange(range), let type = MediaRange(type) else { return nil }
        return range.includes(type)
    }

    @Test(arguments: [
        ("*/*", "a/b", true), ("*", "a/b", true), ("a/*", "a/b", true), ("a/*", "c/b", false), ("A/B", "a/b", true),
        ("a/b", "a/b;c=d", true),
        ("a/b;c=D", "a/b; C=\"d\"", true), ("a/b;c=d", "a/b", false), ("a/b;c=d;q=0.1;x=y", "a/b;c=d", true), ("a/b", "a/b+c", false),
    ]) func rangesAndTypes(range: String, type: String, isWithin: Bool) {
        #expect(self.includes(range, type) == isWithin)
    }

    @Test(arguments: ["", "a", "a/", "/b", "a/b/c", "*/b", "a b/c", "/", ";q=1"]) func invalidRangeIsNil(text: String) {
        #expect(MediaRange(text) == nil)
    }

    @Test func weightsAndPrecedence() {
        #expect(MediaRange("a/b;q=0.5")?.weight == 0.5 && MediaRange("a/b")?.weight == 1)
        #expect(MediaRange("a/b;q=7")?.weight == 1 && MediaRange("a/b;q=x")?.weight == 1 && MediaRange("a/b;q=-1")?.weight == 0)
        #expect(["*/*", "a/*", "a/b", "a/b;c=d"].compactMap { MediaRange($0)?.precedence } == [0, 1, 2, 3])
    }
}

@Suite struct StatusCodesTests {
    @Test(arguments: [
        (Array(200..<300), "200 to 299"), ([404], "404"), ([200, 201, 404], "200 to 201 or 404"), ([500, 200, 404], "200, 404 or 500"),
        ([], "none"),
        ([-1, 99, 1000], "none"),
    ]) func setsAreDescribedInRanges(codes: [Int], text: String) {
        #expect(StatusCodes(codes).description == text)
    }

    @Test func aSequenceWithoutEndEnds() {
        #expect(StatusCodes(200...).contains(599))
        #expect(!StatusCodes(sequence(first: 1) { _ in 1 }).contains(200))
    }
}

@Suite struct ValidationErrorTests {
    @Test func codesAreDistinctAndNamed() {
        #expect(ValidationError.Code.missingContentType != .unacceptableContentType)
        #expect("\(ValidationError.Code.unacceptableStatus)" == "unacceptableStatus")
        #expect("\(ValidationError(.unacceptableStatus, status: 404, nil, "words"))" == "words")
    }
}
