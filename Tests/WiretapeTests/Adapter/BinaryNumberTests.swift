import Testing

@testable import Wiretape

@Suite struct BinaryNumberTests {
    @Test func everyNumberIsATypeOfItsOwn() {
        let types = Set((0..<2000).map { ObjectIdentifier(BinaryNumber.type(of: $0)) })
        #expect(types.count == 2000)
        for number: UInt in [0, 1, 6, 1999] { #expect(types.contains(ObjectIdentifier(BinaryNumber.type(of: number)))) }
    }

    @Test func digitsAreWrittenFromTheLowest() {
        let six = BinaryNumber.Even<BinaryNumber.Odd<BinaryNumber.Odd<BinaryNumber.Zero>>>.self
        #expect(ObjectIdentifier(BinaryNumber.type(of: 6)) == ObjectIdentifier(six))
        _ = BinaryNumber.type(of: .max)
    }
}
