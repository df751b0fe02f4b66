import Foundation
import Testing
import Wiretape

@Suite struct GoogleXSSIPreprocessorTests {
    @Test(arguments: [
        (")]}',\n{\"a\":1}", "{\"a\":1}"), ("{\"a\":1}", "{\"a\":1}"), (")]}'", ")]}'"), (")]}',\n", ""), ("", ""),
        (")]}',\n)]}',\n", ")]}',\n"),
    ]) func thePrefixIsTakenOffOnce(text: String, expected: String) {
        let result = GoogleXSSIPreprocessor().preprocess(Data(text.utf8))
        #expect(result == Data(expected.utf8) && result.startIndex == 0)
    }
}
