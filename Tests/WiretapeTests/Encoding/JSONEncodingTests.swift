import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct JSONEncodingTests {
    private func body(_ encoding: JSONEncoding, _ object: Any?) throws -> String? {
        let request = try encoding.encode(try URLRequest(url: "http://h/", method: .post), withJSONObject: object)
        #expect(request.headers["Content-Type"] == (object == nil ? nil : "application/json"))
        return request.httpBody.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func anyJSONValueIsABody() throws {
        #expect(try self.body(.default, ["b": 1, "a": [true, NSNull(), "한"]] as [String: Any]) == #"{"a":[true,null,"한"],"b":1}"#)
        #expect(try self.body(.default, [1, 2]) == "[1,2]")
        #expect(try self.body(.default, "x") == "\"x\"")
        #expect(try self.body(.prettyPrinted, ["a": 1])?.contains("\n") == true)
        #expect(try self.body(.default, nil) == nil)
    }

    @Test func parametersAreAnObject() throws {
        let request = try (.json as JSONEncoding).encode(try URLRequest(url: "http://h/", method: .put), with: ["a": 1])
        #expect(request.httpBody == Data("{\"a\":1}".utf8))
    }

    @Test func whatIsNoJSONIsRefusedAndDoesNotEndTheProcess() throws {
        #expect(throws: ParameterEncodingError.self) { try self.body(.default, NSObject()) }
        #expect(throws: ParameterEncodingError.self) { try self.body(.default, [Double.nan]) }
    }
}
