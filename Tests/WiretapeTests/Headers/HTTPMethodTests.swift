import Testing
import Wiretape

@Suite struct HTTPMethodTests {
    @Test func caseCounts() {
        #expect(HTTPMethod(rawValue: "get") != .get)
        #expect("PURGE" as HTTPMethod == HTTPMethod(rawValue: "PURGE"))
        #expect(HTTPMethod.query.description == "QUERY")
    }

    @Test func methodsThatMayBeSentTwice() {
        let all: [HTTPMethod] = [.connect, .delete, .get, .head, .options, .patch, .post, .put, .query, .trace]
        #expect(Set(all.filter { !$0.isIdempotent }) == [.connect, .patch, .post])
    }
}
