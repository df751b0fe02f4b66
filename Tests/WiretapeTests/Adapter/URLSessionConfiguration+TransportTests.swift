import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct URLSessionConfigurationTransportTests {
    @Test func itIsACopyWithoutACacheAndWithOneClass() throws {
        let base = URLSessionConfiguration.ephemeral
        base.httpAdditionalHeaders = ["X-Base": "1"]
        base.timeoutIntervalForRequest = 7
        let configuration = URLSessionConfiguration.answered(by: AdapterTransport(), basedOn: base)
        #expect(configuration !== base)
        #expect(configuration.httpAdditionalHeaders?["X-Base"] as? String == "1")
        #expect(configuration.timeoutIntervalForRequest == 7)
        #expect(configuration.urlCache == nil)
        #expect(try #require(configuration.protocolClasses).count == 1)
        #expect(base.protocolClasses?.contains { $0 is LoadingProtocol.Type } != true)
    }

    @Test func eachHasAClassOfItsOwn() throws {
        let types = (0..<20).compactMap { _ in URLSessionConfiguration.answered(by: AdapterTransport()).protocolClasses?.first }
        #expect(Set(types.map { ObjectIdentifier($0) }).count == 20)
    }
}
