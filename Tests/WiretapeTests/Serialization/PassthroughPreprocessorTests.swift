import Foundation
import Testing
import Wiretape

@Suite struct PassthroughPreprocessorTests {
    @Test func dataStaysAsItIs() {
        #expect((.passthrough as PassthroughPreprocessor).preprocess(Data([1, 2])) == Data([1, 2]))
    }
}
