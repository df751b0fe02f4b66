@testable import CassettePlayback
@testable import CassetteTools
import TapeTestSupport
import Testing

@Suite struct ExchangePairingTests {
    private func steps(_ old: [String], _ new: [String]) -> [ExchangePairing.Step] {
        let requests = { (list: [String]) in
            list.map { text -> PairedRequest in
                let words = text.split(separator: " ")
                let body = words.count > 2 ? MatchFixture.live(String(words[2]), MatchFixture.form) : .none
                return PairedRequest(method: String(words[0]), url: "http://a/\(words[1])", body: body)
            }
        }
        return ExchangePairing(old: requests(old), new: requests(new)).steps
    }

    @Test func equalRequestsArePairedInOrder() {
        #expect(
            self.steps(["GET a", "GET b", "GET a"], ["GET a", "GET a", "GET b"]) == [
                .both(old: 0, new: 0), .both(old: 2, new: 1), .both(old: 1, new: 2),
            ])
    }

    @Test func remainingExchangesArePairedWithoutTheirQueries() {
        #expect(self.steps(["GET a?t=1", "GET a?t=2"], ["GET a?t=2", "GET a?t=3"]) == [.both(old: 1, new: 0), .both(old: 0, new: 1)])
    }

    @Test func bodiesThatAreTheSameArePairedInAnyOrder() {
        #expect(
            self.steps(["POST a x=1", "POST a x=2"], ["POST a x=2", "POST a x=1"]) == [.both(old: 1, new: 0), .both(old: 0, new: 1)])
        #expect(
            self.steps(["POST a?t=1 x=1", "POST a?t=1 x=2"], ["POST a?t=2 x=2", "POST a?t=2 x=1"]) == [
                .both(old: 1, new: 0), .both(old: 0, new: 1),
            ])
    }

    @Test func aNewBodyGoesToTheOldOneThatHasMostInCommon() {
        let (first, second) = ("a=1&b=2&c=3&d=4", "e=1&f=2&g=3&h=4")
        #expect(
            self.steps(["POST a \(first)", "POST a \(second)"], ["POST a \(second)5", "POST a \(first)5"]) == [
                .both(old: 1, new: 0), .both(old: 0, new: 1),
            ])
    }

    @Test func exchangeWithoutAPartnerIsAddedOrRemovedInItsPlace() {
        #expect(
            self.steps(["GET a", "GET b", "GET c"], ["GET a", "POST b", "GET c", "GET d"]) == [
                .both(old: 0, new: 0), .added(1), .removed(1), .both(old: 2, new: 2), .added(3),
            ])
        #expect(self.steps([], ["GET a"]) == [.added(0)])
        #expect(self.steps(["GET a"], []) == [.removed(0)])
        #expect(self.steps([], []) == [])
    }

    @Test func everyExchangeIsInOneStep() {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<200 {
            let make = { (generator: inout SeededGenerator) in
                (0..<Int.random(in: 0..<12, using: &generator)).map { _ in
                    "\(["GET", "POST"].randomElement(using: &generator) ?? "GET") \(["a", "b", "a?x=1", "a?x=2"].randomElement(using: &generator) ?? "a")"
                }
            }
            let (old, new) = (make(&generator), make(&generator))
            var (seenOld, seenNew): ([Int], [Int]) = ([], [])
            for step in self.steps(old, new) {
                switch step {
                case .both(let one, let other):
                    seenOld.append(one)
                    seenNew.append(other)
                    #expect(old[one].prefix { $0 != "?" } == new[other].prefix { $0 != "?" })
                case .added(let index): seenNew.append(index)
                case .removed(let index): seenOld.append(index)
                }
            }
            #expect(seenOld.sorted() == Array(old.indices))
            #expect(seenNew == Array(new.indices))
        }
    }
}

@Suite struct PairedRequestTests {
    @Test func theHeadIsTheRules() throws {
        let rules = try MatchRules(ignore: ["query:ts"])
        #expect(
            PairedRequest(method: "GET", url: "http://a/?ts=1", rules: rules).head
                == PairedRequest(method: "GET", url: "http://A:80/?ts=2", rules: rules).head)
        #expect(PairedRequest(method: "GET", url: "http://a/?ts=1").head != PairedRequest(method: "GET", url: "http://a/?ts=2").head)
    }

    @Test func noFacetsAreKept() {
        let request = PairedRequest(method: "POST", url: "http://a/", body: MatchFixture.live("{}", MatchFixture.json))
        #expect(request.body.facets.isEmpty && request.body != .none)
        #expect(request.sketch != BodySketch(.none))
    }
}

@Suite struct URLPiecesTests {
    @Test(arguments: [
        ("http://A/b?x=1&y=2", "HTTP://a/b?y=2&x=1", true), ("http://a", "http://a/", true), ("http://a/b", "http://a/B", false),
        ("http://a/?x", "http://a/?x=", false), ("http://a/?x=1#f", "http://a/?x=1", true), ("http://a/?x=1&x=1", "http://a/?x=1", false),
    ])
    func aKeyDoesNotDependOnTheOrderOfTheQuery(one: String, other: String, areEqual: Bool) {
        #expect((URLPieces(one) == URLPieces(other)) == areEqual)
        #expect((Set([URLPieces(one), URLPieces(other)]).count == 1) == areEqual)
    }

    @Test func itemsAreCutAtTheFirstEqualsSign() {
        let pieces = URLPieces("http://a/b?x=1=2&y&=z&")
        #expect(pieces.base == "http://a/b")
        #expect(pieces.query.map(\.name) == ["x", "y", ""])
        #expect(pieces.query.map(\.value) == ["1=2", nil, "z"])
    }

    @Test func textThatIsNoURLIsItsOwnBase() {
        #expect(URLPieces("*").base == "*")
        #expect(URLPieces("").key == "?")
    }
}
