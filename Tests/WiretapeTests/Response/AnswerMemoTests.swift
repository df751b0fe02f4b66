import Testing

@testable import Wiretape

@Suite struct AnswerMemoTests {
    @Test func anAnswerIsMadeOnceForAllWhoAsk() async {
        let memo = AnswerMemo<Int>()
        let made = Collected<Int>()
        let clock = ManualClock()
        let all = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    await memo.answer {
                        made.add(1)
                        try? await clock.sleep(for: .seconds(1))
                        return 7
                    }
                }
            }
            await clock.sleepers(1)
            clock.advance(by: .seconds(1))
            var all: [Int] = []
            for await answer in group { all.append(answer) }
            return all
        }
        #expect(all == Array(repeating: 7, count: 10))
        #expect(made.all.count == 1)
        #expect(await memo.answer { 8 } == 7)
    }
}
