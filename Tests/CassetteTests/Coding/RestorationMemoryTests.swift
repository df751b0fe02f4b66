import Testing

@testable import CassetteFormat
@testable import CassetteModel

struct RestorationMemoryTests {
    private let six = DeflateParameters(level: 6)
    private let nine = DeflateParameters(level: 9)

    @Test func theLatestParametersComeFirst() {
        var memory = RestorationMemory()
        memory.found(self.six, for: "a")
        memory.found(self.nine, for: "a")
        #expect(memory.parameters(for: "a") == [self.nine, self.six])
        memory.found(self.six, for: "a")
        #expect(memory.parameters(for: "a") == [self.six, self.nine])
        #expect(memory.parameters(for: "b").isEmpty)
    }

    @Test func fewParametersAreKeptOfEachOrigin() {
        var memory = RestorationMemory()
        for level in 1...9 { memory.found(DeflateParameters(level: level), for: "a") }
        #expect(memory.parameters(for: "a").map(\.level) == [9, 8, 7])
    }

    @Test func theOriginNotHeardOfLongestIsForgotten() {
        var memory = RestorationMemory()
        for index in 0..<RestorationMemory.originLimit { memory.found(self.six, for: "origin \(index)") }
        memory.found(self.nine, for: "origin 0")
        memory.found(self.six, for: "new")
        #expect(memory.parameters(for: "origin 0") == [self.nine, self.six])
        #expect(memory.parameters(for: "origin 1").isEmpty)
        #expect(memory.parameters(for: "new") == [self.six])
    }

    @Test func anOriginThatIsNeverRestoredIsSearchedNowAndThen() {
        var memory = RestorationMemory()
        var full = 0
        for _ in 0..<200 {
            if memory.deservesFullSearch("node") { full += 1 }
            memory.missed(for: "node")
        }
        #expect(full == RestorationMemory.missLimit + 3)
        memory.found(self.six, for: "node")
        #expect(memory.deservesFullSearch("node"))
    }
}
