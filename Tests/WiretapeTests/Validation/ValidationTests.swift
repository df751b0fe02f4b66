import Foundation
import Testing
import Wiretape

@Suite struct ValidationTests {
    private func code(
        _ validation: Validation, _ status: Int = 200, type: String? = nil, accept: String? = nil, method: HTTPMethod = .get,
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

    @Test func theErrorSaysWhatCameAndWhatWasWanted() throws {
        #expect {
            try Validation.default.validate(request: SampleResponse.request(), response: SampleResponse.response(404), data: nil)
        } throws: {
            "\($0)"
                == "the response to \"GET http://h/p\" has the status 404, expected 200 to 299: look at the body, or validate other statuses"
        }
    }

    @Test func rulesOfOnesOwnComeInOrder() throws {
        struct First: Error {}
        struct Second: Error {}
        let rule = Validation { _, _, _ in throw First() }.and(Validation { _, _, _ in throw Second() })
        #expect(throws: First.self) { try rule.validate(request: nil, response: SampleResponse.response(), data: nil) }
        let other = Validation.default.and(Validation { _, _, data in if data == nil { throw Second() } })
        #expect(throws: Second.self) { try other.validate(request: nil, response: SampleResponse.response(), data: nil) }
        try other.validate(request: nil, response: SampleResponse.response(), data: Data())
    }
}
