/// The price of a million tokens of a model, in any currency.
///
/// In millionths, so that sums are exact.
package struct TokenPrice: Sendable, Hashable {
    /// The name of the model; one that ends with `*` stands for all names with that beginning.
    package var model: String
    package var input: Int
    package var output: Int
    /// Of input that the server had in a cache.
    package var cached: Int

    /// The largest price, in units.
    private static let limit = 1_000_000

    /// Reads `MODEL=INPUT,OUTPUT` or `MODEL=INPUT,OUTPUT,CACHED`, such as `gpt-5=1.25,10,0.125`. Without the third, cached input costs as
    /// much as other input.
    ///
    /// Throws `SyntaxError`.
    package init(_ text: String) throws(SyntaxError) {
        guard let equals = text.lastIndex(of: "="), equals > text.startIndex else { throw SyntaxError(text: text) }
        let numbers = text[text.index(after: equals)...].split(separator: ",", omittingEmptySubsequences: false).map { Self.millionths($0) }
        guard (2...3).contains(numbers.count), let input = numbers[0], let output = numbers[1], let cached = numbers.last ?? nil else {
            throw SyntaxError(text: text)
        }
        self.model = String(text[..<equals])
        (self.input, self.output, self.cached) = (input, output, numbers.count == 3 ? cached : input)
    }

    package struct SyntaxError: Error, CustomStringConvertible {
        var text: String

        package var description: String {
            "\"\(self.text)\" is not a price; write the model and what a million tokens of input and output cost, and of cached input, such as gpt-5=1.25,10,0.125"
        }
    }

    /// A decimal with at most six places.
    private static func millionths(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let whole = Int(parts[0]), whole <= Self.limit
        else { return nil }
        guard parts.count == 2 else { return whole * 1_000_000 }
        guard parts[1].count <= 6, let fraction = Int(parts[1] + String(repeating: "0", count: 6 - parts[1].count)) else { return nil }
        return whole * 1_000_000 + fraction
    }

    fileprivate func fits(_ name: String) -> Bool { self.model.hasSuffix("*") ? name.hasPrefix(self.model.dropLast()) : self.model == name }
}

/// The prices of some models.
package struct TokenPrices: Sendable, Hashable {
    private let prices: [TokenPrice]

    package init(_ prices: [TokenPrice]) { self.prices = prices }

    package var isEmpty: Bool { self.prices.isEmpty }

    /// What tokens of a model cost, in millionths; nil if its price is unknown. The longest name that fits decides.
    ///
    /// Tokens that are put into a cache count as input, although some servers charge more for them.
    package func cost(of usage: TokenUsage, model: String) -> Int? {
        guard let price = self.prices.filter({ $0.fits(model) }).max(by: { $0.model.count < $1.model.count }) else { return nil }
        let input = max(0, usage.input - (usage.cached - usage.cachedApart)) + usage.stored
        var sum = 0
        for (tokens, each) in [(input, price.input), (usage.cached, price.cached), (usage.output, price.output)] {
            let (product, overflows) = tokens.multipliedReportingOverflow(by: each)
            // More than the numbers of any recording.
            guard !overflows, !sum.addingReportingOverflow(product).overflow else { return nil }
            sum += product
        }
        return sum / 1_000_000
    }

    /// A cost with four decimals, rounded.
    package static func text(_ millionths: Int) -> String {
        let rounded = (millionths + 50) / 100
        let fraction = String(rounded % 10_000)
        return "\(rounded / 10_000)." + String(repeating: "0", count: 4 - fraction.count) + fraction
    }
}
