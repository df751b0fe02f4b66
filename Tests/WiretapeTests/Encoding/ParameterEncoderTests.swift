import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct JSONParameterEncoderTests {
    private struct Pet: Codable, Equatable { var name = "초코", age = 3, isGood = true, tags = ["b", "a"] }

    @Test func keysAreSorted() throws {
        let request = try HTTPSession.JSONParameterEncoder().encode(Pet(), into: try URLRequest(url: "http://h/", method: .post))
        #expect(request.httpBody.map { String(decoding: $0, as: UTF8.self) } == #"{"age":3,"isGood":true,"name":"초코","tags":["b","a"]}"#)
        #expect(request.headers["Content-Type"] == "application/json")
    }

    @Test func anEncoderAndATypeOfOnesOwn() throws {
        let own = JSONEncoder()
        own.outputFormatting = [.sortedKeys, .prettyPrinted]
        var request = try URLRequest(url: "http://h/", method: .post, headers: ["Content-Type": "application/vnd.pets+json"])
        request = try (.json(encoder: own) as HTTPSession.JSONParameterEncoder).encode(["a": 1], into: request)
        #expect(request.httpBody.map { String(decoding: $0, as: UTF8.self) } == "{\n  \"a\" : 1\n}")
        #expect(request.headers["Content-Type"] == "application/vnd.pets+json")
    }

    @Test func valueThatIsNoJSONIsRefused() throws {
        let request = try URLRequest(url: "http://h/", method: .post)
        #expect { try (.json as HTTPSession.JSONParameterEncoder).encode([Double.nan], into: request) } throws: {
            ($0 as? ParameterEncodingError)?.cause is EncodingError
        }
        #expect(try HTTPSession.JSONParameterEncoder().encode(nil as Int?, into: request) == request)
    }
}

@Suite struct ParameterDestinationTests {
    @Test func theMethodDecidesWhereNothingElseDoes() {
        for method in [HTTPSession.Method.get, .head, .delete] {
            #expect(HTTPSession.ParameterDestination.methodDependent.isQuery(for: method))
        }
        for method in [HTTPSession.Method.post, .put, .patch, .query, .options, .trace, .connect, "PURGE"] {
            #expect(!HTTPSession.ParameterDestination.methodDependent.isQuery(for: method))
        }
        #expect(
            HTTPSession.ParameterDestination.queryString.isQuery(for: .post)
                && !HTTPSession.ParameterDestination.httpBody.isQuery(for: .get))
    }

    @Test func aBodyTakesTheTypeThatIsThere() throws {
        var request = try URLRequest(url: "http://h/?a=b", method: .post)
        let plain = try HTTPSession.ParameterDestination.methodDependent.put("x=1", into: request)
        #expect(plain.httpBody == Data("x=1".utf8) && plain.url == request.url)
        #expect(plain.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded; charset=utf-8")
        request.setValue("application/x-own", forHTTPHeaderField: "content-type")
        let own = try HTTPSession.ParameterDestination.methodDependent.put("x=1", into: request)
        #expect(own.value(forHTTPHeaderField: "Content-Type") == "application/x-own")
    }

    @Test func aQueryChangesTheURLAlone() throws {
        let request = try HTTPSession.ParameterDestination.queryString.put("x=1", into: try URLRequest(url: "http://h/?a=b", method: .post))
        #expect(request.url?.absoluteString == "http://h/?a=b&x=1" && request.httpBody == nil && request.headers.isEmpty)
    }

    @Test func aQueryNeedsAURL() throws {
        var request = try URLRequest(url: "http://h/", method: .get)
        request.url = nil
        #expect { try HTTPSession.ParameterDestination.queryString.put("x=1", into: request) } throws: {
            ($0 as? ParameterEncodingError)?.code == .missingURL
        }
    }
}

@Suite struct ParameterEncodingErrorTests {
    @Test func codesAreDistinctAndNamed() {
        #expect(ParameterEncodingError.Code.missingURL != .notAnObject)
        #expect("\(ParameterEncodingError.Code.tooDeep)" == "tooDeep")
        #expect("\(ParameterEncodingError(.notEncodable, "words"))" == "words")
    }
}

@Suite struct PropertyListParameterEncoderTests {
    private struct Pet: Codable, Equatable { var name = "초코", born = Date(timeIntervalSince1970: 86400), photo = Data([1, 2]) }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func bothFormatsComeBack(format: PropertyListSerialization.PropertyListFormat) throws {
        let encoder: HTTPSession.PropertyListParameterEncoder = .propertyList(format: format)
        let request = try encoder.encode(Pet(), into: try URLRequest(url: "http://h/", method: .post))
        let body = try #require(request.httpBody)
        #expect(try PropertyListDecoder().decode(Pet.self, from: body) == Pet())
        #expect(body.starts(with: Data((format == .xml ? "<?xml" : "bplist").utf8)))
        #expect(request.headers["Content-Type"] == "application/x-plist")
    }

    @Test func valueThatIsNoPropertyListIsRefused() throws {
        let request = try URLRequest(url: "http://h/", method: .post)
        #expect(throws: ParameterEncodingError.self) { try HTTPSession.PropertyListParameterEncoder().encode(1, into: request) }
        #expect(try (.propertyList as HTTPSession.PropertyListParameterEncoder).encode(nil as Int?, into: request) == request)
    }
}

@Suite struct URLEncodedFormParameterEncoderTests {
    private func encoded(_ encoder: some HTTPSession.ParameterEncoder, _ method: HTTPSession.Method) throws -> URLRequest {
        try encoder.encode(["b": "2 3", "a": "1"], into: URLRequest(url: "http://h/p?q=r#f", method: method))
    }

    @Test func parametersGoWhereTheMethodSays() throws {
        #expect(try self.encoded(.urlEncodedForm, .get).url?.absoluteString == "http://h/p?q=r&a=1&b=2%203#f")
        let post = try self.encoded(.urlEncodedForm, .post)
        #expect(post.url?.absoluteString == "http://h/p?q=r#f" && post.httpBody == Data("a=1&b=2%203".utf8))
        #expect(post.headers["content-type"] == "application/x-www-form-urlencoded; charset=utf-8")
    }

    @Test func encoderAndDestinationCanBeChosen() throws {
        let encoder = HTTPSession.URLEncodedFormEncoder(spaceEncoding: .plusReplaced)
        let request = try self.encoded(.urlEncodedForm(encoder: encoder, destination: .queryString), .post)
        #expect(request.url?.query == "q=r&a=1&b=2+3" && request.httpBody == nil)
        #expect(
            try self.encoded(HTTPSession.URLEncodedFormParameterEncoder(destination: .httpBody), .get).httpBody == Data("a=1&b=2%203".utf8))
    }

    @Test func noParametersChangeNothing() throws {
        let request = try URLRequest(url: "http://h/", method: .post)
        #expect(try HTTPSession.URLEncodedFormParameterEncoder().encode(nil as [String: String]?, into: request) == request)
        #expect(try HTTPSession.URLEncodedFormParameterEncoder().encode([String: String](), into: request).httpBody == Data())
    }
}
