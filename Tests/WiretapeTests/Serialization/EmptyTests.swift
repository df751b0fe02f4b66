import Foundation
import Testing
import Wiretape

@Suite struct EmptyTests {
    @Test func nothingIsAnyObject() throws {
        #expect(try JSONDecoder().decode(Empty.self, from: Data("{\"a\":1}".utf8)) == .value)
        #expect(Empty.emptyValue() == .value)
    }
}
