import Testing
import Wiretape

struct FormDataBoundaryTests {
    @Test(arguments: ["a", "----WebKitFormBoundaryABC", "a b", "'()+_,-./:=?", String(repeating: "x", count: 70)])
    func whatTheRFCAllowsIsTaken(text: String) throws {
        #expect(try FormDataBoundary(text).text == text)
    }

    @Test(arguments: ["", "a ", "a\"b", "a\r\nb", "café", "a@b", "a\u{0}", String(repeating: "x", count: 71)])
    func whatWouldBreakHeaderOrBodyIsRefused(text: String) {
        #expect { try FormDataBoundary(text) } throws: { ($0 as? FormDataError)?.code == .invalidBoundary }
    }

    @Test func theSameSeedGivesTheSameBoundary() {
        #expect(FormDataBoundary.seeded(7).text == "wiretape-63cbe1e459320dd7044c3cd7f43c661c")
        #expect(FormDataBoundary.seeded(7) == FormDataBoundary.seeded(7))
        #expect(FormDataBoundary.seeded(7) != FormDataBoundary.seeded(8))
    }

    @Test func aRandomOneIsAllowedAndNew() throws {
        let boundary = FormDataBoundary.random()
        #expect(try FormDataBoundary(boundary.text) == boundary)
        #expect(boundary.text.utf8.count == 41 && boundary != .random())
    }

    @Test func theParameterIsQuotedWhereItHasToBe() throws {
        #expect(try FormDataBoundary("a-B_1.+'").parameter == "boundary=a-B_1.+'")
        for text in ["a b", "a:b", "a/b", "(a", "a=b", "a?b", "a,b"] {
            #expect(try FormDataBoundary(text).parameter == "boundary=\"\(text)\"")
        }
    }
}
