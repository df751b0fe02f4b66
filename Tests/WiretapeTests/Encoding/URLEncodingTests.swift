import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct URLEncodingTests {
    private func query(_ parameters: Parameters, _ encoding: URLEncoding = .default) throws -> String {
        try encoding.query(parameters).removingPercentEncoding ?? ""
    }

    @Test func listsAndDictionaries() throws {
        let parameters: Parameters = [
            "foo": ["b", "a"], "bar": ["y": 1, "x": [true, false] as [any Sendable]] as Parameters, "a": "1 2",
        ]
        #expect(try self.query(parameters) == "a=1 2&bar[x][]=1&bar[x][]=0&bar[y]=1&foo[]=b&foo[]=a")
        #expect(
            try self.query(parameters, URLEncoding(arrayEncoding: .noBrackets, boolEncoding: .literal))
                == "a=1 2&bar[x]=true&bar[x]=false&bar[y]=1&foo=b&foo=a")
    }

    @Test func numbersAndBools() throws {
        let parameters: Parameters = ["a": true, "b": 1, "c": NSNumber(value: true), "d": NSNumber(value: 1), "e": 1.5, "f": NSNull()]
        #expect(try self.query(parameters, URLEncoding(boolEncoding: .literal)) == "a=true&b=1&c=true&d=1&e=1.5")
    }

    @Test func everythingButUnreservedIsEscaped() throws {
        #expect(try URLEncoding().query(["a&b": "=+한/?"]) == "a%26b=%3D%2B%ED%95%9C/?")
    }

    @Test func destinations() throws {
        let post = try URLRequest(url: "http://h/?q", method: .post)
        #expect(try URLEncoding.queryString.encode(post, with: ["a": 1]).url?.absoluteString == "http://h/?q&a=1")
        #expect(try (.url as URLEncoding).encode(post, with: ["a": 1]).httpBody == Data("a=1".utf8))
        #expect(
            try URLEncoding.httpBody.encode(try URLRequest(url: "http://h/", method: .get), with: ["a": 1]).httpBody == Data("a=1".utf8))
        #expect(try URLEncoding.default.encode(post, with: nil) == post)
    }
}
