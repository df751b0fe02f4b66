import Testing
@testable import TapeProxy

@Suite struct ReadTimesTests {
    private func all(_ times: ReadTimes, by limit: Int) -> [String] {
        var times = times
        var taken: [String] = []
        while let (count, at) = times.take(atMost: limit) { taken.append("\(count)@\(at)") }
        return taken
    }

    @Test func octetsComeOffWithTheirTimes() {
        var times = ReadTimes()
        times.add(10, at: 0)
        times.add(0, at: 1)
        times.add(5, at: 100)
        #expect(self.all(times, by: 100) == ["10@0.0", "5@100.0"])
        #expect(self.all(times, by: 4) == ["4@0.0", "4@0.0", "2@0.0", "4@100.0", "1@100.0"])
        #expect(times.take(atMost: 0) == nil)
    }

    @Test func aBurstIsOne() {
        var times = ReadTimes()
        times.add(1, at: 10)
        times.add(2, at: 11.9)
        times.add(4, at: 12.1)
        #expect(self.all(times, by: 100) == ["3@10.0", "4@12.1"])
    }

    @Test func theListIsBounded() {
        var times = ReadTimes()
        for number in 0..<ReadTimes.limit + 10 { times.add(1, at: Double(number * 10)) }
        let taken = self.all(times, by: 100)
        #expect(taken.count == ReadTimes.limit)
        #expect(taken.last == "11@\(Double((ReadTimes.limit - 1) * 10))")
    }
}
