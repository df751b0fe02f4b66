import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct JSONParameterEncoderTests {
    private struct Pet: Codable, Equatable { var name = "초코", age = 3, isGood = true, tags = ["b", "a"] }

    @Test func keysAreSorted() throws {
        let request = try JSONParameterEncoder().encode(Pet(), into: try URLRequest(url: "http://h/", method: .post))
        #expect(request.httpBody.map { String(decoding: $0, as: UTF8.self) } == #"{"age":3,"isGood":true,"name":"초코","tags":["b","a"]}"#)
        #expect(request.headers["Content-Type"] == "application/json")
    }

    @Test func anEncoderAndATypeOfOnesOwn() throws {
        let own = JSONEncoder()
        own.outputFormatting = [.sortedKeys, .prettyPrinted]
        var request = try URLRequest(url: "http://h/", method: .post, headers: ["Content-Type": "application/vnd.pets+json"])
        request = try (.json(encoder: own) as JSONParameterEncoder).encode(["a": 1], into: request)
        #expect(request.httpBody.map { String(decoding: $0, as: UTF8.self) } == "{\n  \"a\" : 1\n}")
        #expect(request.headers["Content-Type"] == "application/vnd.pets+json")
    }

    @Test func whatIsNoJSONIsRefused() throws {
        let request = try URLRequest(url: "http://h/", method: .post)
        #expect { try (.json as JSONParameterEncoder).encode([Double.nan], into: request) } throws: {
            ($0 as? ParameterEncodingError)?.cause is EncodingError
        }
        #expect(try JSONParameterEncoder().encode(nil as Int?, into: request) == request)
    }
}
