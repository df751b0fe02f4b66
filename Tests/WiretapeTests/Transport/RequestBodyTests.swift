import Foundation
import Testing
import Wiretape

@Suite struct RequestBodyTests {
    @Test func anEmptyBodyIsNotNone() {
        #expect(RequestBody.none.size == nil)
        #expect(RequestBody.data(Data()).size == 0)
        #expect(RequestBody.file(URL(fileURLWithPath: "/nowhere"), size: 7).size == 7)
    }
}
