import Foundation
import Testing

@testable import Wiretape

@Suite struct DataEncodingTests {
    @Test func dataIsTextOrLeftToItself() throws {
        #expect(try URLEncodedFormEncoder.DataEncoding.base64.encode(Data([1])) == "AQ==")
        #expect(try URLEncodedFormEncoder.DataEncoding.deferredToData.encode(Data([1])) == nil)
        #expect(try URLEncodedFormEncoder.DataEncoding.custom { "\($0.count)" }.encode(Data([1])) == "1")
    }
}
