#if os(Linux)
import Testing

@testable import WiretapeCLI

@Suite struct NamespaceCallsTests {
    @Test func theCLibraryHasThem() throws {
        let calls = try #require(NamespaceCalls())
        #expect(throws: NamespaceCalls.SystemError.self) { try calls.unshare(-1) }
        #expect(throws: NamespaceCalls.SystemError.self) { try calls.mount(nil, at: "/no/such/folder", NamespaceCalls.isPrivate) }
        let bounding = calls.boundingSet
        calls.bound(to: bounding)
        #expect(calls.boundingSet == bounding)
    }
}
#endif
