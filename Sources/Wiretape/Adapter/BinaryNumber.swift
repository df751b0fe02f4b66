/// Natural numbers as types, so that a generic class has as many subclasses as are asked for while the program runs.
enum BinaryNumber {
    protocol Digits {}
    enum Zero: Digits {}
    /// Twice the number.
    enum Even<Half: Digits>: Digits {}
    /// Twice the number and one.
    enum Odd<Half: Digits>: Digits {}

    /// The type of a number: the same for the same number, another for another.
    static func type(of number: UInt) -> any Digits.Type {
        guard number > 0 else { return Zero.self }
        let half = self.type(of: number / 2)
        return number.isMultiple(of: 2) ? self.even(half) : self.odd(half)
    }

    private static func even<Half: Digits>(_: Half.Type) -> any Digits.Type { Even<Half>.self }
    private static func odd<Half: Digits>(_: Half.Type) -> any Digits.Type { Odd<Half>.self }
}
