/// The page shown to a person who opens the proxy's own address.
enum HelpPage {
    static func answer(address: String, method: String) -> ProxyAnswer {
        let text = """
            this is wiretape, a recording HTTP proxy. it is not a web site: programs send their requests through it.

              http_proxy=http://\(address) your-program
              curl -x http://\(address) http://example.com/

            a program without proxy support can put the URL in the path. this works for https too, without trusting a CA:

              curl http://\(address)/http://example.com/

            or let wiretape start the program: wiretape record FILE -- your-program
            """
        guard method == "GET" || method == "HEAD" else {
            return ProxyAnswer(status: 400, reason: "Bad Request", error: "origin-form", text: text)
        }
        return ProxyAnswer(status: 200, reason: "OK", text: text)
    }
}

/// HTML markup written as a literal. Interpolated values are text and are escaped, unless they are markup themselves.
///
/// Does not know HTML elements: a literal has to close whatever it opens. Attribute values must be in double or single quotes.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    let markup: String

    init(stringLiteral value: String) { self.markup = value }

    init(stringInterpolation: Interpolation) { self.markup = stringInterpolation.markup }

    /// Joins pieces of markup.
    init(joining pieces: [HTML]) { self.markup = pieces.map(\.markup).joined(separator: "\n") }

    /// The contents of a string literal.
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
