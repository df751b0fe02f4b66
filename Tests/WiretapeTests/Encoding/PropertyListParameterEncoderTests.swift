import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct PropertyListParameterEncoderTests {
    private struct Pet: Codable, Equatable { var name = "초코", born = Date(timeIntervalSince1970: 86400), photo = Data([1, 2]) }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func bothFormatsComeBack(format: PropertyListSerialization.PropertyListFormat) throws {
        let encoder: PropertyListParameterEncoder = .propertyList(format: format)
        let request = try encoder.encode(Pet(), into: try URLRequest(url: "http://h/", method: .post))
        let body = try #require(request.httpBody)
        #expect(try PropertyListDecoder().decode(Pet.self, from: body) == Pet())
        #expect(body.starts(with: Data((format == .xml ? "<?xml" : "bplist").utf8)))
        #expect(request.headers["Content-Type"] == "application/x-plist")
    }

    @Test func whatIsNoListIsRefused() throws {
        let request = try URLRequest(url: "http://h/", method: .post)
        #expect(throws: ParameterEncodingError.self) { try PropertyListParameterEncoder().encode(1, into: request) }
        #expect(try (.propertyList as PropertyListParameterEncoder).encode(nil as Int?, into: request) == request)
    }
}
