import Testing

@testable import CassetteModel
@testable import CassetteStore
@testable import Wiretape

struct EncodedFormDataTests {
    @Test func bothFormsCanBeReadAgainAndAgain() throws {
        let bytes = Array(0..<200).map { UInt8($0) }
        let file = try TemporaryFile { write in try bytes.withUnsafeBytes(write) }
        for encoded in [EncodedFormData.memory(bytes), .file(file)] {
            #expect(encoded.size == 200)
            for _ in 0..<2 { #expect(try encoded.source.load() == bytes) }
        }
    }
}
