import Foundation
import Testing
import Wiretape

@Suite struct DataDecoderTests {
    @Test func foundationsDecodersAreSome() throws {
        let decoders: [any DataDecoder] = [JSONDecoder(), PropertyListDecoder()]
        let texts = ["{\"a\":1}", "<plist version=\"1.0\"><dict><key>a</key><integer>1</integer></dict></plist>"]
        for (decoder, text) in zip(decoders, texts) {
            #expect(try decoder.decode([String: Int].self, from: Data(text.utf8)) == ["a": 1])
        }
    }
}
