/// What a person sees who opens the proxy's own address.
enum HelpPage {
    static func answer(address: String, method: String) -> ProxyAnswer {
        let text = """
            this is wiretape, a recording HTTP proxy. it is not a web site: programs send their requests through it.

              http_proxy=http://\(address) your-program
              curl -x http://\(address) http://example.com/

            a program that takes no proxy can ask for the URL in the path, also for https and without trusting anybody:

              curl http://\(address)/http://example.com/

            or let wiretape start the program: wiretape record FILE -- your-program
            """
        guard method == "GET" || method == "HEAD" else {
            return ProxyAnswer(status: 400, reason: "Bad Request", error: "origin-form", text: text)
        }
        return ProxyAnswer(status: 200, reason: "OK", text: text)
    }
}

/// Markup that a literal spells out; whatever is put into it is text and is escaped, unless it is markup itself.
///
/// Knows no elements: what a literal opens it has to close. Attribute values belong in double or single quotes.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    let markup: String

    init(stringLiteral value: String) { self.markup = value }

    init(stringInterpolation: Interpolation) { self.markup = stringInterpolation.markup }

    /// Pieces of markup, one after the other.
    init(joining pieces: [HTML]) { self.markup = pieces.map(\.markup).joined(separator: "\n") }

    /// The text between the quotes of a literal.
    struct Interpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            self.markup.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        mutating func appendLiteral(_ literal: String) { self.markup += literal }

        mutating func appendInterpolation(_ html: HTML) { self.markup += html.markup }

        mutating func appendInterpolation(_ number: Int) { self.markup += String(number) }

        mutating func appendInterpolation(_ text: String) {
            for scalar in text.unicodeScalars {
                switch scalar {
                case "&": self.markup += "&amp;"
                case "<": self.markup += "&lt;"
                case ">": self.markup += "&gt;"
                case "\"": self.markup += "&quot;"
                case "'": self.markup += "&#39;"
                default: self.markup.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
