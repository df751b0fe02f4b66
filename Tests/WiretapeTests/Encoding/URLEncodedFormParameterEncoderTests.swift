import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct URLEncodedFormParameterEncoderTests {
    private func encoded(_ encoder: some ParameterEncoder, _ method: HTTPMethod) throws -> URLRequest {
        try encoder.encode(["b": "2 3", "a": "1"], into: URLRequest(url: "http://h/p?q=r#f", method: method))
    }

    @Test func parametersGoWhereTheMethodSays() throws {
        #expect(try self.encoded(.urlEncodedForm, .get).url?.absoluteString == "http://h/p?q=r&a=1&b=2%203#f")
        let post = try self.encoded(.urlEncodedForm, .post)
        #expect(post.url?.absoluteString == "http://h/p?q=r#f" && post.httpBody == Data("a=1&b=2%203".utf8))
        #expect(post.headers["content-type"] == "application/x-www-form-urlencoded; charset=utf-8")
    }

    @Test func encoderAndDestinationCanBeChosen() throws {
        let encoder = URLEncodedFormEncoder(spaceEncoding: .plusReplaced)
        let request = try self.encoded(.urlEncodedForm(encoder: encoder, destination: .queryString), .post)
        #expect(request.url?.query == "q=r&a=1&b=2+3" && request.httpBody == nil)
        #expect(try self.encoded(URLEncodedFormParameterEncoder(destination: .httpBody), .get).httpBody == Data("a=1&b=2%203".utf8))
    }

    @Test func noParametersChangeNothing() throws {
        let request = try URLRequest(url: "http://h/", method: .post)
        #expect(try URLEncodedFormParameterEncoder().encode(nil as [String: String]?, into: request) == request)
        #expect(try URLEncodedFormParameterEncoder().encode([String: String](), into: request).httpBody == Data())
    }
}
