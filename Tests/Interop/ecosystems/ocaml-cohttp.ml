(* Prints the body of a URL by Cohttp with Lwt, with no settings of its own. *)
open Lwt.Infix

let () =
  Lwt_main.run
    ( Cohttp_lwt_unix.Client.get (Uri.of_string Sys.argv.(1)) >>= fun (answer, body) ->
      if Cohttp.Response.status answer <> `OK then failwith "status";
      Cohttp_lwt.Body.to_string body >>= fun text ->
      set_binary_mode_out stdout true;
      Lwt_io.write Lwt_io.stdout text )
