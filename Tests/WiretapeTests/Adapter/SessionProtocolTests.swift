import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct SessionProtocolTests {
    @Test func eachNumberHasAClassOfItsOwnWhichIsAURLProtocol() {
        let types = (0..<100).map { SessionProtocol<BinaryNumber.Zero>.numbered($0) }
        #expect(Set(types.map { ObjectIdentifier($0) }).count == 100)
        let all: [AnyClass] = types
        #expect(all.allSatisfy { $0 is URLProtocol.Type })
        #expect(types[3] == SessionProtocol<BinaryNumber.Zero>.numbered(3))
    }
}
