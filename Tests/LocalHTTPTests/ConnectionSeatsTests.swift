import LocalHTTP
import Testing

@Suite struct ConnectionSeatsTests {
    private typealias Seats = ConnectionSeats<Int>

    private static let knownLimit = 64

    private var seats = Seats(knownLimit: ConnectionSeatsTests.knownLimit)

    private mutating func arrive(_ ids: some Sequence<Int>) -> [Int] { ids.compactMap { self.seats.arrived($0) } }

    private mutating func admit(_ ids: some Sequence<Int>) -> [Bool] { ids.map { self.seats.admitted($0) } }

    @Test mutating func theOldestStrangerMakesRoom() {
        let limit = Seats.strangerLimit
        let first = self.arrive(0..<limit)
        let second = self.arrive([limit])
        #expect(first == [] && second == [0])
        // A connection that has already left is not asked to leave.
        self.seats.left(1)
        let third = self.arrive([limit + 1, limit + 2])
        #expect(third == [2])
    }

    @Test mutating func strangersTakeNoRoomFromThoseWithTheToken() {
        for id in 0..<Self.knownLimit {
            let closed = self.arrive([id])
            let isAdmitted = self.admit([id])
            #expect(closed == [] && isAdmitted == [true])
        }
        let closed = self.arrive(1000...2000)
        #expect(closed.count == 1001 - Seats.strangerLimit && closed.allSatisfy { $0 >= 1000 })
        let late = self.admit([2000])
        #expect(late == [false])
        self.seats.left(3)
        _ = self.arrive([2001])
        let later = self.admit([2001])
        #expect(later == [true])
    }

    @Test mutating func aConnectionIsAdmittedOnce() {
        for id in 0..<Self.knownLimit {
            _ = self.arrive([id])
            let isAdmitted = self.admit([id, id])
            #expect(isAdmitted == [true, true])
        }
        _ = self.arrive([-1])
        let isAdmitted = self.admit([-1])
        #expect(isAdmitted == [false])
    }
}
