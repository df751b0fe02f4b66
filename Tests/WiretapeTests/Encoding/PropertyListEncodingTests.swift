import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct PropertyListEncodingTests {
    @Test(arguments: [PropertyListEncoding.xml, .binary]) func aDictionaryComesBack(encoding: PropertyListEncoding) throws {
        let request = try encoding.encode(try URLRequest(url: "http://h/", method: .post), with: ["a": [1, 2], "b": Data([1]), "c": true])
        let body = try #require(request.httpBody)
        let list = try PropertyListSerialization.propertyList(from: body, format: nil) as? [String: Any]
        #expect(list?["a"] as? [Int] == [1, 2] && list?["b"] as? Data == Data([1]) && list?["c"] as? Bool == true)
        #expect(request.headers["Content-Type"] == "application/x-plist")
    }

    @Test func nothingIsRefusedAndNoParametersChangeNothing() throws {
        let request = try URLRequest(url: "http://h/", method: .post)
        #expect(throws: ParameterEncodingError.self) { try (.propertyList as PropertyListEncoding).encode(request, with: ["a": NSNull()]) }
        #expect(try PropertyListEncoding.xml.encode(request, with: nil) == request)
    }
}
