import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct ParameterDestinationTests {
    @Test func theMethodDecidesWhereNothingElseDoes() {
        for method in [HTTPMethod.get, .head, .delete] { #expect(ParameterDestination.methodDependent.isQuery(for: method)) }
        for method in [HTTPMethod.post, .put, .patch, .query, .options, .trace, .connect, "PURGE"] {
            #expect(!ParameterDestination.methodDependent.isQuery(for: method))
        }
        #expect(ParameterDestination.queryString.isQuery(for: .post) && !ParameterDestination.httpBody.isQuery(for: .get))
    }

    @Test func aBodyTakesTheTypeThatIsThere() throws {
        var request = try URLRequest(url: "http://h/?a=b", method: .post)
        let plain = try ParameterDestination.methodDependent.put("x=1", into: request)
        #expect(plain.httpBody == Data("x=1".utf8) && plain.url == request.url)
        #expect(plain.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded; charset=utf-8")
        request.setValue("application/x-own", forHTTPHeaderField: "content-type")
        let own = try ParameterDestination.methodDependent.put("x=1", into: request)
        #expect(own.value(forHTTPHeaderField: "Content-Type") == "application/x-own")
    }

    @Test func aQueryChangesTheURLAlone() throws {
        let request = try ParameterDestination.queryString.put("x=1", into: try URLRequest(url: "http://h/?a=b", method: .post))
        #expect(request.url?.absoluteString == "http://h/?a=b&x=1" && request.httpBody == nil && request.headers.isEmpty)
    }

    @Test func aQueryNeedsAURL() throws {
        var request = try URLRequest(url: "http://h/", method: .get)
        request.url = nil
        #expect { try ParameterDestination.queryString.put("x=1", into: request) } throws: {
            ($0 as? ParameterEncodingError)?.code == .missingURL
        }
    }
}
