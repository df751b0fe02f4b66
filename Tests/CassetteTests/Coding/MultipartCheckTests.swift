import TapeTestSupport
import Testing

@testable import CassetteFormat
@testable import CassetteModel

@Suite struct MultipartCheckTests {
    private func check(_ text: String, edit: (inout MultipartBody<ByteSource>) -> Void = { _ in }) throws {
        let bytes = Array(text.utf8)
        var body = try #require(try MultipartFixture.body(bytes)).mapData { ByteSource(Array(bytes[$0])) }
        edit(&body)
        try MultipartCheck.check(body)
    }

    @Test(arguments: MultipartFixture.texts)
    func whateverWasReadIsReadAgain(_ text: String) throws {
        guard try MultipartFixture.body(Array(text.utf8)) != nil else { return }
        try self.check(text)
    }

    @Test func whatMutationsLeaveIsReadAgain() throws {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<rounds(3_000) {
            let text = MultipartFixture.texts.randomElement(using: &generator) ?? ""
            let bytes = MultipartFixture.mutated(Array(text.utf8), using: &generator)
            guard let body = try MultipartFixture.body(bytes) else { continue }
            try MultipartCheck.check(body.mapData { ByteSource(Array(bytes[$0])) })
        }
    }

    @Test func aBoundaryInEditedDataIsAnError() throws {
        let error = #expect(throws: CassetteError.self) {
            try self.check(MultipartFixture.form) { $0.parts[1].content = .data(ByteSource(Array("a\r\n--X\r\nb".utf8))) }
        }
        #expect(error?.message.contains("part 2 (\"pet\")") == true && error?.message.contains("\"X\"") == true)
    }

    @Test func theBoundaryOfALevelAboveCountsToo() throws {
        let text = "--X\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\n--Y\r\n\r\na\r\n--Y--\r\n\r\n--X--\r\n"
        let error = #expect(throws: CassetteError.self) {
            try self.check(text) { body in
                guard case .multipart(var inner) = body.parts[0].content else { return }
                inner.parts[0].content = .data(ByteSource(Array("\r\n--X--\r\n".utf8)))
                body.parts[0].content = .multipart(inner)
            }
        }
        #expect(error?.message.contains("part 1") == true)
    }

    @Test func somethingLikeTheBoundaryIsData() throws {
        try self.check(MultipartFixture.form) { $0.parts[0].content = .data(ByteSource(Array("a\r\n--Xtra--X".utf8))) }
    }
}
