import Testing

@testable import CassetteFormat
@testable import CassetteModel

struct DecodedMemoTests {
    private func key(_ number: UInt8) -> DecodedMemo.Key {
        DecodedMemo.Key(identity: [number], encoding: .coded([.gzip]), type: nil, isComplete: true)
    }

    @Test func theLastBodiesAreKept() {
        var memo = DecodedMemo()
        for number in 0..<UInt8(20) { memo.remember(Body(size: Int(number), content: .text([number])), for: self.key(number)) }
        #expect(memo[self.key(3)] == nil)
        for number in 4..<UInt8(20) { #expect(memo[self.key(number)]?.size == Int(number)) }
    }

    @Test func theSameBytesUnderAnotherClaimAreAnotherBody() {
        var memo = DecodedMemo()
        memo.remember(Body(size: 1, content: .text([1])), for: self.key(1))
        #expect(memo[DecodedMemo.Key(identity: [1], encoding: .coded([.deflate]), type: nil, isComplete: true)] == nil)
        #expect(memo[DecodedMemo.Key(identity: [1], encoding: .coded([.gzip]), type: nil, isComplete: false)] == nil)
    }

    @Test func bodiesWithSidecarsPassTheSinkEachTime() {
        var memo = DecodedMemo()
        let sidecar = Sidecar(path: "a", size: 1, sha256: "b")
        memo.remember(Body(size: 1, content: .file(sidecar)), for: self.key(1))
        memo.remember(Body(size: 1, content: .text([1]), original: sidecar), for: self.key(2))
        #expect(memo[self.key(1)] == nil)
        #expect(memo[self.key(2)] == nil)
    }
}
