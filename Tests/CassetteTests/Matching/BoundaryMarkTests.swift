import Testing

@testable import CassetteModel
@testable import CassettePlayback

struct BoundaryMarkTests {
    private func replaced(_ text: String, _ boundary: String) throws -> String {
        String(decoding: BoundaryMark(try #require(MultipartBoundary(boundary))).replaced(in: Array(text.utf8)), as: UTF8.self)
    }

    @Test func aBoundaryHasOneSpelling() throws {
        #expect(try self.replaced("<part-0123456789@0123456789>", "0123456789") == "<part-{{boundary}}@{{boundary}}>")
        #expect(try self.replaced("0123456", "0123456789") == "0123456")
        #expect(try self.replaced("", "0123456789") == "")
    }

    @Test func aShortBoundaryIsAWord() throws {
        #expect(try self.replaced("photo", "photo") == "photo")
    }
}
