@testable import CassettePlayback
import TapeTestSupport
import TapeBytes
import Testing

@Suite struct FilterParserTests {
    /// The expression with all parentheses.
    private func read(_ text: String) throws -> String { Self.text(try FilterParser.parse(text)) }

    private static func text(_ expression: FilterExpression) -> String {
        switch expression {
        case .flag(let term): "~\(term.rawValue)"
        case .status(let status): "~c \(status)"
        case .grpc(let status): "~grpc \(status.code)"
        case .version(let version): "~hv \(version.major).\(version.minor)"
        case .pattern(let term, let pattern): "~\(term.rawValue) \(pattern.source)"
        case .not(let inner): "!\(self.text(inner))"
        case .and(let left, let right): "(\(self.text(left)) & \(self.text(right)))"
        case .or(let left, let right): "(\(self.text(left)) | \(self.text(right)))"
        }
    }

    // Groups as in mitmproxy 11.0.2, which refuses "!(~q|~s)", and reads "GET&" and "GET|" as words.
    @Test(arguments: [
        ("~m POST", "~m POST"), ("pets", "~u pets"), ("~q", "~q"), ("~c 404", "~c 404"),
        ("!~q & ~m GET | ~c 200", "((!~q & ~m GET) | ~c 200)"), ("~q | ~s & ~all", "(~q | (~s & ~all))"),
        ("~m GET ~c 200", "(~m GET & ~c 200)"), ("~q | ~s ~all", "((~q | ~s) & ~all)"), ("!(~q|~s)", "!(~q | ~s)"), ("!!~q", "!!~q"),
        ("(~m GET)(~c 200)", "(~m GET & ~c 200)"), (#"~u "a b""#, "~u a b"), ("~u 'a|b'", "~u a|b"), ("~u a|b", "~u a|b"),
        (#"~u "\.png$""#, #"~u \.png$"#), (#"~u "a\"b""#, #"~u a"b"#), ("~m GET&~q", "(~m GET & ~q)"), ("~m GET| ~q", "(~m GET | ~q)"),
        ("  ~hs  x-a  ", "~hs x-a"), ("~grpc NOT_FOUND|~hv 2&~q", "(~grpc 5 | (~hv 2.0 & ~q))"), ("a & !b", "(~u a & !~u b)"),
    ])
    func groupsByStrength(text: String, expected: String) throws {
        #expect(try self.read(text) == expected)
    }

    @Test func anErrorShowsPartOfALongText() {
        let long = String(repeating: "x", count: 900)
        for (text, shown) in [
            ("~u \(long) & ~nothing | ~m GET", "xxx & ~nothing | ~m GET\", character 907: there is no condition"),
            ("~\(long)", "character 1: there is no condition \"~xxx"), ("~grpc \(long)", "does not know the status \"xxx"),
            ("~u \(long)[", "a \"[\" without a \"]\""), ("~u \(long)(a", "put a regular expression with parentheses or spaces in quotes"),
            ("\"\(long)", "this quote is not closed"),
        ] {
            let error = #expect(throws: SettingSyntaxError.self) { try FilterParser.parse(text) }
            let message = error?.message ?? ""
            #expect(message.contains(shown) && message.count < 700, "\(message.prefix(1000))")
        }
    }

    @Test func moreConditionsThanTheStackHoldsAreRefused() throws {
        let many = String(repeating: "a ", count: 1000)
        _ = try FilterParser.parse(many)
        #expect(throws: SettingSyntaxError.self) { try FilterParser.parse(many + "a") }
    }

    @Test(arguments: [
        ("", "character 1: a condition is missing: write one, for example \"~m POST\""),
        ("~grpc NO", "character 7: \"~grpc\" does not know the status \"NO\": write one of \(GRPCStatus.known)"),
        ("~grpc", "character 6: \"~grpc\" needs a gRPC status: write one of \(GRPCStatus.known)"),
        ("~hv 3", "character 5: \"~hv\" needs an HTTP version: 1.0, 1.1 or 2"),
        ("~x", "character 1: there is no condition \"~x\": use one of \(FilterTerm.known)"),
        ("~q & ", "character 6: a condition is missing: write one, for example \"~m POST\""),
        ("| ~q", "character 1: a condition is missing before \"|\": write one, for example \"~m POST\""),
        ("~m", "character 3: \"~m\" needs a regular expression, for example \"~m pets\""),
        ("~m & ~q", "character 4: \"~m\" needs a regular expression, for example \"~m pets\""),
        ("~c ok", "character 4: \"~c\" needs a status, for example \"~c 404\""),
        ("~c 5xx", "character 4: \"~c\" takes one whole status: write \"~c 404 | ~c 500\" for several"),
        ("~c 200-299", "character 4: \"~c\" takes one whole status: write \"~c 404 | ~c 500\" for several"),
        ("~c 404,500", "character 4: \"~c\" takes one whole status: write \"~c 404 | ~c 500\" for several"),
        ("~m GET and ~q", "character 8: \"and\" alone would be searched for in URLs: write &, or ~u and to search for it"),
        ("~q OR ~s", "character 4: \"OR\" alone would be searched for in URLs: write |, or ~u OR to search for it"),
        ("not ~q", "character 1: \"not\" alone would be searched for in URLs: write !, or ~u not to search for it"),
        (
            "method == GET",
            "character 8: \"==\" alone would be searched for in URLs: write ~m GET for the method, or ~u == to search for it"
        ),
        ("~q (~s", "character 4: this \"(\" is not closed: add a \")\""),
        ("~q)", "character 3: there is no \"(\" for this \")\": remove it, or add one"),
        ("~u (a|b)", "character 4: put a regular expression with parentheses or spaces in quotes: ~u \"(a|b)\""),
        ("~bq (?=a)b", "character 5: put a regular expression with parentheses or spaces in quotes: ~bq \"(a|b)\""),
        ("~u /pets/(a|b)$", "character 10: put a regular expression with parentheses or spaces in quotes: ~u \"/pets/(a|b)\""),
        ("/pets/(a|b)$", "character 7: put a regular expression with parentheses or spaces in quotes: ~u \"/pets/(a|b)\""),
        ("~u 'a", "character 4: this quote is not closed: add a '"),
        (
            "~u [a",
            "character 4: pattern \"[a\" at character 1 has a \"[\" without a \"]\": add it, or write \\[ for the character itself"
        ),
    ])
    func anErrorNamesThePlace(text: String, message: String) {
        #expect(throws: SettingSyntaxError.self) { try FilterParser.parse(text) }
        do throws(SettingSyntaxError) {
            _ = try FilterParser.parse(text)
        } catch {
            #expect(error.message == "--filter \"\(text)\", \(message)")
        }
    }

    @Test(arguments: [
        ("get", "\"get\" is searched for in URLs: ~m GET is the method"),
        ("~q & (POST)", "\"POST\" is searched for in URLs: ~m POST is the method"),
        ("example.com", "\"example.com\" is searched for in URLs: ~m GET is the method, ~d the host and ~b the body"),
        ("~m GET", nil), ("~u get", nil), ("~q (", nil),
    ])
    func aHintNamesAWordWithoutACondition(text: String, hint: String?) {
        #expect(FilterParser.hint(text) == hint)
    }

    @Test func aWordInQuotesIsSearchedForWhateverItIs() throws {
        #expect(try self.read("'and' | ~u or") == "(~u and | ~u or)")
    }

    @Test func depthHasALimit() {
        #expect(throws: SettingSyntaxError.self) { try FilterParser.parse(String(repeating: "(", count: 100_000)) }
        #expect(throws: SettingSyntaxError.self) { try FilterParser.parse(String(repeating: "!", count: 100_000) + "~q") }
        #expect(throws: Never.self) { try FilterParser.parse(String(repeating: "!", count: 99) + "~q") }
    }
}

@Suite struct FilterExpressionTests {
    @Test func aTreeHoldsAnyDepth() {
        var expression = FilterExpression.status(200)
        for _ in 0..<100 { expression = .not(expression) }
        var depth = 0
        while case .not(let inner) = expression {
            expression = inner
            depth += 1
        }
        #expect(depth == 100)
    }
}

@Suite struct FilterTermTests {
    @Test func theLettersAreMitmproxys() {
        #expect(FilterTerm.known == "~a ~all ~b ~bq ~bs ~c ~d ~dst ~e ~grpc ~h ~hq ~hs ~http ~hv ~m ~q ~s ~t ~tq ~ts ~u ~websocket")
    }

    @Test func argumentDependsOnTheCondition() {
        #expect(FilterTerm.status.argument == .number)
        #expect(FilterTerm.unanswered.argument == .none)
        #expect(FilterTerm.url.argument == .pattern)
    }
}
