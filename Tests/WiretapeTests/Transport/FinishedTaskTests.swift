import ClientTestSupport
import Testing

@testable import Wiretape

@Suite struct FinishedTaskTests {
    @Test func nothingIsLeftToDo() {
        let log = EventLog()
        let task = StubTransport([.text("x")]).start(.make("GET", "http://a.test/")) { log.receive($0) }
        #expect(task is FinishedTask)
        task.cancel()
        task.resume()
        #expect(log.lines.last == "end")
        #expect(log.events.count == 3)
    }
}
